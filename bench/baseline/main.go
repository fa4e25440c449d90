// The opponent of the benchmark: the smallest correct controller of the same job on client-go.
//
// One informer over sources and companions, a workqueue, workers. What it leaves out only makes it faster: it deletes
// nothing, asks nobody for consent, adopts nothing, reports nothing. So do not take it as an example.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	managed  = "workshop.io/managed"
	targets  = "workshop.io/target-namespaces"
	source   = "workshop.io/source"
	checksum = "workshop.io/source-checksum"
)

// One companion, by its source and its namespace: the workers share a fan-out as they share many sources.
type item struct{ sourceNamespace, sourceName, namespace string }

type controller struct {
	client     kubernetes.Interface
	configMaps listers.ConfigMapLister
	namespaces listers.NamespaceLister
	queue      workqueue.TypedRateLimitingInterface[item]
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	qps := flag.Float64("qps", 0, "requests a second; 0: client-go's default of 5, with a burst of 10; -1: no limit")
	contentType := flag.String("content-type", "application/json", "or application/vnd.kubernetes.protobuf")
	workers := flag.Int("workers", 16, "companions reconciled at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		slog.Error("no cluster", "err", err)
		os.Exit(1)
	}
	config.QPS = float32(*qps)
	config.ContentType = *contentType
	config.AcceptContentTypes = *contentType + ",application/json"
	run(ctx, kubernetes.NewForConfigOrDie(config), *workers)
}

func run(ctx context.Context, client kubernetes.Interface, workers int) {
	selected := informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.LabelSelector = managed + " in (true,companion)"
	})
	// Nobody reads the managed fields; to drop them is the usual way to save memory.
	slim := informers.WithTransform(func(object any) (any, error) {
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	})
	configMaps := informers.NewSharedInformerFactoryWithOptions(client, 0, selected, slim)
	namespaces := informers.NewSharedInformerFactoryWithOptions(client, 0, slim)
	c := &controller{
		client:     client,
		configMaps: configMaps.Core().V1().ConfigMaps().Lister(),
		namespaces: namespaces.Core().V1().Namespaces().Lister(),
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[item]()),
	}
	// Namespaces first: a source that targets them must find them.
	namespaces.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.namespaceAdded})
	namespaces.Start(ctx.Done())
	namespaces.WaitForCacheSync(ctx.Done())
	configMaps.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.changed,
		UpdateFunc: func(_, object any) { c.changed(object) },
		DeleteFunc: c.changed,
	})
	configMaps.Start(ctx.Done())
	configMaps.WaitForCacheSync(ctx.Done())
	slog.Info("caches synced")
	for range workers {
		go c.work(ctx)
	}
	<-ctx.Done()
	c.queue.ShutDown()
}

func (c *controller) changed(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return
	}
	if configMap.Labels[managed] == "true" {
		for _, namespace := range c.targetsOf(configMap) {
			c.queue.Add(item{configMap.Namespace, configMap.Name, namespace})
		}
	} else if namespace, name, found := strings.Cut(configMap.Annotations[source], "/"); found {
		c.queue.Add(item{namespace, name, configMap.Namespace})
	}
}

func (c *controller) namespaceAdded(object any) {
	namespace := object.(*corev1.Namespace).Name
	sources, _ := c.configMaps.List(labels.SelectorFromSet(labels.Set{managed: "true"}))
	for _, source := range sources {
		if list, has := source.Annotations[targets]; has && matches(list, namespace) {
			c.queue.Add(item{source.Namespace, source.Name, namespace})
		}
	}
}

// The namespaces that the source names, as names or prefixes that end in "*"; without any, its own.
func (c *controller) targetsOf(source *corev1.ConfigMap) (names []string) {
	list, has := source.Annotations[targets]
	if !has {
		return []string{source.Namespace}
	}
	namespaces, _ := c.namespaces.List(labels.Everything())
	for _, namespace := range namespaces {
		if matches(list, namespace.Name) {
			names = append(names, namespace.Name)
		}
	}
	return names
}

func matches(list, namespace string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(strings.TrimSpace(pattern), "*")
		return prefix == namespace || isPrefix && strings.HasPrefix(namespace, prefix)
	})
}

func (c *controller) work(ctx context.Context) {
	for {
		next, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.reconcile(ctx, next); err != nil {
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				slog.Warn("retrying", "source", next.sourceNamespace+"/"+next.sourceName, "err", err)
			}
			c.queue.AddRateLimited(next)
		} else {
			c.queue.Forget(next)
		}
		c.queue.Done(next)
	}
}

func (c *controller) reconcile(ctx context.Context, next item) error {
	src, err := c.configMaps.ConfigMaps(next.sourceNamespace).Get(next.sourceName)
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	desired := companionOf(src, next.namespace)
	actual, err := c.configMaps.ConfigMaps(next.namespace).Get(desired.Name)
	if apierrors.IsNotFound(err) {
		_, err = c.client.CoreV1().ConfigMaps(next.namespace).Create(ctx, desired, metav1.CreateOptions{})
		return written("companion created", src, desired, err)
	} else if err != nil || isAsDesired(actual, desired) {
		return err
	}
	// What others put on it stays.
	updated := actual.DeepCopy()
	updated.Data, updated.BinaryData, updated.OwnerReferences = desired.Data, desired.BinaryData, desired.OwnerReferences
	updated.Labels = merged(updated.Labels, desired.Labels)
	updated.Annotations = merged(updated.Annotations, desired.Annotations)
	_, err = c.client.CoreV1().ConfigMaps(next.namespace).Update(ctx, updated, metav1.UpdateOptions{})
	return written("companion updated", src, desired, err)
}

func written(message string, src, companion *corev1.ConfigMap, err error) error {
	if err == nil {
		slog.Info(message, "source", src.Namespace+"/"+src.Name, "companion", companion.Namespace+"/"+companion.Name)
	}
	return err
}

func companionOf(src *corev1.ConfigMap, namespace string) *corev1.ConfigMap {
	companion := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      src.Name + "-synced",
			Labels:    map[string]string{managed: "companion", "app.kubernetes.io/managed-by": "bench-baseline"},
			Annotations: map[string]string{
				source:                   src.Namespace + "/" + src.Name,
				"workshop.io/source-uid": string(src.UID),
				"workshop.io/companion":  namespace + "/" + src.Name + "-synced",
				checksum:                 checksumOf(src),
			},
		},
		Data:       src.Data,
		BinaryData: src.BinaryData,
	}
	if namespace == src.Namespace {
		companion.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(src, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	}
	return companion
}

func isAsDesired(actual, desired *corev1.ConfigMap) bool {
	return maps.Equal(actual.Data, desired.Data) &&
		maps.EqualFunc(actual.BinaryData, desired.BinaryData, slices.Equal[[]byte]) &&
		contains(actual.Labels, desired.Labels) && contains(actual.Annotations, desired.Annotations) &&
		len(actual.OwnerReferences) >= len(desired.OwnerReferences)
}

func contains(all, some map[string]string) bool {
	for key, value := range some {
		if all[key] != value {
			return false
		}
	}
	return true
}

func merged(base, over map[string]string) map[string]string {
	if base == nil {
		base = map[string]string{}
	}
	maps.Copy(base, over)
	return base
}

// Canonical: keys in order, lengths before values, so that the same content gives the same checksum in every process.
func checksumOf(configMap *corev1.ConfigMap) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(configMap.Data)) {
		fmt.Fprintf(hash, "%d %d\n%s%s", len(key), len(configMap.Data[key]), key, configMap.Data[key])
	}
	hash.Write([]byte("\n"))
	for _, key := range slices.Sorted(maps.Keys(configMap.BinaryData)) {
		fmt.Fprintf(hash, "%d %d\n%s%s", len(key), len(configMap.BinaryData[key]), key, configMap.BinaryData[key])
	}
	return hex.EncodeToString(hash.Sum(nil))
}
