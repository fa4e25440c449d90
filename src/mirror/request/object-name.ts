/** https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names */
export const MAX_NAME_LENGTH = 253;
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function isObjectName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && OBJECT_NAME.test(name);
}
