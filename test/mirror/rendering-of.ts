import { keyOf } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { type Content, selectContent } from '../../src/mirror/observe/content.ts';
import { isValues, type ObservedConfigMap } from '../../src/mirror/observe/observed-config-map.ts';
import { basesOf } from '../../src/mirror/plan/desired.ts';
import type { ClusterView } from '../../src/mirror/plan/view.ts';
import { type RenderedMemo, Rendering } from '../../src/mirror/render/rendering.ts';
import { valuesKeys, valuesVersion } from '../../src/mirror/render/values.ts';
import { observed, vocabulary } from './wire.ts';

/** The rendering of a source, with all that exists at hand; undefined: it has nothing to render. */
export function renderingOf(
  source: ObservedConfigMap,
  configMaps: readonly ConfigMap[],
  view: ClusterView,
  memo: RenderedMemo = new Map(),
): Rendering | undefined {
  if (!source.request?.ok || source.request.value.uses === undefined) return undefined;
  const at = (key: string) => configMaps.find((object) => keyOf(object) === key);
  const request = source.request.value;
  const from = valuesKeys(source).map((key) => {
    const object = at(key);
    const isThere = object !== undefined && isValues(observed(object), vocabulary);
    return { key, content: isThere ? contentOf(object) : undefined };
  });
  const bases = basesOf(source, request, view).map((base): [ObservedConfigMap, Content] => {
    const content = contentOf(at(base.key));
    return [base, base === source ? selectContent(content, request) : content];
  });
  return new Rendering({
    bases: new Map(bases),
    renderKeys: request.renderKeys,
    sourceNamespace: source.namespace,
    values: { from, version: valuesVersion(source, view) },
    labelsOf: (namespace) => view.namespace(namespace)?.labels,
    memo,
    vocabulary,
  });
}

function contentOf({ data = {}, binaryData = {} }: Partial<ConfigMap> = {}): Content {
  return { data, binaryData };
}
