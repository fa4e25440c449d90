{{/* The release's name, unless that says nothing of the chart. */}}
{{- define "mirror.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}
{{- $name = printf "%s-%s" $name .Chart.Name -}}
{{- end -}}
{{- /* A Service's name has no dots. */}}
{{- $name | replace "." "-" | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "mirror.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "mirror.labels" -}}
{{ include "mirror.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "mirror.metadata" -}}
name: {{ include "mirror.name" . | quote }}
namespace: {{ .Release.Namespace | quote }}
labels:
  {{- include "mirror.labels" . | nindent 2 }}
{{- end -}}

{{- define "mirror.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ $tag }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "mirror.subjects" -}}
- kind: ServiceAccount
  name: {{ include "mirror.name" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
{{- end -}}

{{/* Exactly the verbs that the controller calls. Argument: the verbs on Namespaces. */}}
{{- define "mirror.rules" -}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [namespaces]
  verbs: {{ . | toJson }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [""]
  resources: [events]
  verbs: [patch]
{{- end -}}

{{/* How often the canary runs, in milliseconds. 0: never. */}}
{{- define "mirror.canaryMs" -}}
{{- $unitsMs := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- $ms := 0 -}}
{{- range regexFindAll "[0-9]+[a-z]+" (toString .Values.freshnessCanary) -1 -}}
{{- $ms = add $ms (mul (regexFind "[0-9]+" . | atoi) (get $unitsMs (regexFind "[a-z]+" .))) -}}
{{- end -}}
{{- $ms -}}
{{- end -}}
