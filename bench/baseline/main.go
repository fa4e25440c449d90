// The opponent in the benchmark: the smallest correct controller for the same job on client-go.
//
// One informer over sources and companions, a workqueue of sources, 16 workers. It leaves out what
// costs time: it logs no writes, adopts nothing, asks nobody for consent, reports nothing. Do not
// take it as an example.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
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

// Indexes of the ConfigMap cache.
const (
	companionsOf = "companions of a source" // key: namespace/name of the source
	wideSources  = "sources with targets"   // key: always ""
)

type controller struct {
	client     kubernetes.Interface
	configMaps cache.Indexer
	namespaces listers.NamespaceLister
	queue      workqueue.TypedRateLimitingInterface[string]
	inFlight   int
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	contentType := flag.String("content-type", "application/json", "or application/vnd.kubernetes.protobuf")
	workers := flag.Int("workers", 16, "sources reconciled at once, and writes in flight for each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		slog.Error("no cluster", "err", err)
		os.Exit(1)
	}
	config.QPS = -1 // no throttle: the default is 5 requests a second
	config.ContentType = *contentType
	config.AcceptContentTypes = *contentType + ",application/json"
	run(ctx, kubernetes.NewForConfigOrDie(config), *workers)
}

func run(ctx context.Context, client kubernetes.Interface, workers int) {
	selected := informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.LabelSelector = managed + " in (true,companion)"
	})
	// Nobody reads the managed fields; dropping them is the usual way to save memory.
	slim := informers.WithTransform(func(object any) (any, error) {
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	})
	configMapFactory := informers.NewSharedInformerFactoryWithOptions(client, 0, selected, slim)
	namespaceFactory := informers.NewSharedInformerFactoryWithOptions(client, 0, slim)
	configMaps := configMapFactory.Core().V1().ConfigMaps().Informer()
	if err := configMaps.AddIndexers(cache.Indexers{companionsOf: bySource, wideSources: withTargets}); err != nil {
		panic(err)
	}
	c := &controller{
		client:     client,
		configMaps: configMaps.GetIndexer(),
		namespaces: namespaceFactory.Core().V1().Namespaces().Lister(),
		queue:      workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		inFlight:   workers,
	}
	// Namespaces first: a source that targets them must find them.
	namespaceFactory.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.namespaceAdded})
	namespaceFactory.Start(ctx.Done())
	namespaceFactory.WaitForCacheSync(ctx.Done())
	configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.changed,
		UpdateFunc: func(_, object any) { c.changed(object) },
		DeleteFunc: c.changed,
	})
	configMapFactory.Start(ctx.Done())
	configMapFactory.WaitForCacheSync(ctx.Done())
	slog.Info("caches synced")
	for range workers {
		go c.work(ctx)
	}
	<-ctx.Done()
	c.queue.ShutDown()
}

func bySource(object any) ([]string, error) {
	if configMap := object.(*corev1.ConfigMap); configMap.Labels[managed] == "companion" {
		return []string{configMap.Annotations[source]}, nil
	}
	return nil, nil
}

func withTargets(object any) ([]string, error) {
	configMap := object.(*corev1.ConfigMap)
	if _, has := configMap.Annotations[targets]; has && configMap.Labels[managed] == "true" {
		return []string{""}, nil
	}
	return nil, nil
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
		c.queue.Add(keyOf(configMap))
	} else {
		c.queue.Add(configMap.Annotations[source])
	}
}

func (c *controller) namespaceAdded(object any) {
	sources, _ := c.configMaps.ByIndex(wideSources, "")
	for _, source := range sources {
		configMap := source.(*corev1.ConfigMap)
		if matches(configMap.Annotations[targets], object.(*corev1.Namespace).Name) {
			c.queue.Add(keyOf(configMap))
		}
	}
}

func (c *controller) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.reconcile(ctx, key); err != nil {
			slog.Warn("retrying", "source", key, "err", err)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *controller) reconcile(ctx context.Context, key string) error {
	desired := map[string]*corev1.ConfigMap{} // by namespace, like actual
	if object, exists, _ := c.configMaps.GetByKey(key); exists {
		if src := object.(*corev1.ConfigMap); src.Labels[managed] == "true" {
			sum := checksumOf(src)
			for _, namespace := range c.targetsOf(src) {
				desired[namespace] = companionOf(src, namespace, sum)
			}
		}
	}
	actual := map[string]*corev1.ConfigMap{}
	companions, _ := c.configMaps.ByIndex(companionsOf, key)
	for _, object := range companions {
		companion := object.(*corev1.ConfigMap)
		actual[companion.Namespace] = companion
	}

	var writes []func() error
	for namespace, companion := range desired {
		api := c.client.CoreV1().ConfigMaps(namespace)
		if is, exists := actual[namespace]; !exists {
			writes = append(writes, func() error {
				_, err := api.Create(ctx, companion, metav1.CreateOptions{})
				return err
			})
		} else if !isAsDesired(is, companion) {
			writes = append(writes, func() error {
				_, err := api.Update(ctx, updated(is, companion), metav1.UpdateOptions{})
				return err
			})
		}
	}
	for namespace, companion := range actual {
		if _, isDesired := desired[namespace]; !isDesired {
			writes = append(writes, func() error {
				options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &companion.UID, ResourceVersion: &companion.ResourceVersion}}
				return unlessGone(c.client.CoreV1().ConfigMaps(namespace).Delete(ctx, companion.Name, options))
			})
		}
	}
	return atOnce(c.inFlight, writes)
}

func atOnce(limit int, writes []func() error) error {
	slots := make(chan struct{}, limit)
	errs := make([]error, len(writes))
	var group sync.WaitGroup
	for number, write := range writes {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			// The cache was behind: the event that tells it so queues the source again.
			if err := write(); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				errs[number] = err
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func unlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
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

func keyOf(configMap *corev1.ConfigMap) string {
	return configMap.Namespace + "/" + configMap.Name
}

func companionOf(src *corev1.ConfigMap, namespace, sum string) *corev1.ConfigMap {
	companion := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      src.Name + "-synced",
			Labels:    map[string]string{managed: "companion", "app.kubernetes.io/managed-by": "bench-baseline"},
			Annotations: map[string]string{
				source:                   keyOf(src),
				"workshop.io/source-uid": string(src.UID),
				"workshop.io/companion":  namespace + "/" + src.Name + "-synced",
				checksum:                 sum,
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

// The desired companion, with what others put on the actual one.
func updated(actual, desired *corev1.ConfigMap) *corev1.ConfigMap {
	companion := actual.DeepCopy()
	companion.Data, companion.BinaryData, companion.OwnerReferences = desired.Data, desired.BinaryData, desired.OwnerReferences
	companion.Labels = merged(companion.Labels, desired.Labels)
	companion.Annotations = merged(companion.Annotations, desired.Annotations)
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

// Keys in order, lengths before values: the same content has the same checksum in every process.
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
