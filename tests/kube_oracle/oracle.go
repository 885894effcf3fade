package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
)

// Question is one line of input. Objects stay raw so that a recorded question
// is exactly what was asked.
type Question struct {
	ID      json.RawMessage   `json:"id"`
	Objects []json.RawMessage `json:"objects"`
	Pods    []string          `json:"pods"`
}

// Answer is one line of output.
type Answer struct {
	ID   json.RawMessage       `json:"id"`
	Pods map[string]*PodAnswer `json:"pods"`
}

// Refusal is any plugin status other than success and skip.
type Refusal struct {
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

// PodAnswer holds what every plugin said about one pod.
type PodAnswer struct {
	PreFilter     map[string]Refusal            `json:"prefilter"`
	Skip          []string                      `json:"skip"`
	Filters       map[string]map[string]Refusal `json:"filters"`
	Scores        map[string]map[string]int64   `json:"scores"`
	SkippedScores []string                      `json:"skippedScores"`
	ScoreErrors   map[string]string             `json:"scoreErrors,omitempty"`
	Scored        []string                      `json:"scored"`
}

// handle gives plugins the few things they ask of a scheduler; the embedded
// nil interface makes any other request panic loudly.
type handle struct {
	fwk.Handle
	nodes   nodeLister
	factory informers.SharedInformerFactory
	csi     fwk.CSIManager
}

// No plugin here ever calls the API server; the volume binder only keeps the client.
var client kubernetes.Interface = fake.NewClientset()

func (h *handle) SnapshotSharedLister() fwk.SharedLister                 { return h }
func (h *handle) ClientSet() kubernetes.Interface                        { return client }
func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
func (h *handle) SharedCSIManager() fwk.CSIManager                       { return h.csi }
func (h *handle) SharedDRAManager() fwk.SharedDRAManager                 { return nil }
func (h *handle) Parallelizer() fwk.Parallelizer                         { return sequential{} }
func (h *handle) NodeInfos() fwk.NodeInfoLister                          { return h.nodes }
func (h *handle) StorageInfos() fwk.StorageInfoLister                    { return nil }
func (h *handle) PodGroupStates() fwk.PodGroupStateLister                { return nil }

// sequential keeps answers independent of goroutine order.
type sequential struct{}

func (sequential) Until(_ context.Context, pieces int, work workqueue.DoWorkPieceFunc, _ string) {
	for i := range pieces {
		work(i)
	}
}

// nodeLister lists nodes in name order.
type nodeLister []fwk.NodeInfo

func (l nodeLister) List() ([]fwk.NodeInfo, error) { return l, nil }

func (l nodeLister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return l.where(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithAffinity()) > 0 }), nil
}

func (l nodeLister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.where(func(n fwk.NodeInfo) bool { return len(n.GetPodsWithRequiredAntiAffinity()) > 0 }), nil
}

func (l nodeLister) Get(name string) (fwk.NodeInfo, error) {
	for _, n := range l {
		if n.Node().Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("node %q not found", name)
}

func (l nodeLister) where(keep func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	var out []fwk.NodeInfo
	for _, n := range l {
		if keep(n) {
			out = append(out, n)
		}
	}
	return out
}

// settledNode is a node whose image counts are those of a cluster in which
// every node has been updated since the last one joined.
type settledNode struct {
	fwk.NodeInfo
	images map[string]*fwk.ImageStateSummary
}

func (n settledNode) GetImageStates() map[string]*fwk.ImageStateSummary { return n.images }

// cluster is the state of one question.
type cluster struct {
	handle  *handle
	settled []fwk.NodeInfo // same nodes and order as handle.nodes
	pods    map[string]*corev1.Pod
	filters []namedPlugin
	scores  []namedPlugin
}

type namedPlugin struct {
	name   string
	plugin fwk.Plugin
}

func newCluster(objects []json.RawMessage) (*cluster, error) {
	c := &cluster{pods: map[string]*corev1.Pod{}}
	factory := informers.NewSharedInformerFactory(client, 0)
	podsOf := map[string][]*corev1.Pod{}
	var nodes []*corev1.Node
	for _, raw := range objects {
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		indexer, err := indexerFor(factory, obj)
		if err != nil {
			return nil, err
		}
		if err := indexer.Add(obj); err != nil {
			return nil, err
		}
		switch o := obj.(type) {
		case *corev1.Node:
			nodes = append(nodes, o)
		case *corev1.Pod:
			c.pods[o.Namespace+"/"+o.Name] = o
			finished := o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed
			if o.Spec.NodeName != "" && !finished {
				podsOf[o.Spec.NodeName] = append(podsOf[o.Spec.NodeName], o)
			}
		}
	}

	c.handle = &handle{
		factory: factory,
		csi:     nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister()),
	}
	arrival, settled := imageStates(nodes)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range nodes {
		info := framework.NewNodeInfo(podsOf[n.Name]...)
		info.SetNode(n)
		info.ImageStates = arrival[n.Name]
		c.handle.nodes = append(c.handle.nodes, info)
		c.settled = append(c.settled, settledNode{info, settled[n.Name]})
	}
	return c, c.makePlugins()
}

func indexerFor(f informers.SharedInformerFactory, obj runtime.Object) (cache.Indexer, error) {
	core, storage := f.Core().V1(), f.Storage().V1()
	var informer cache.SharedIndexInformer
	switch obj.(type) {
	case *corev1.Node:
		informer = core.Nodes().Informer()
	case *corev1.Pod:
		informer = core.Pods().Informer()
	case *corev1.Namespace:
		informer = core.Namespaces().Informer()
	case *corev1.PersistentVolumeClaim:
		informer = core.PersistentVolumeClaims().Informer()
	case *corev1.PersistentVolume:
		informer = core.PersistentVolumes().Informer()
	case *corev1.Service:
		informer = core.Services().Informer()
	case *appsv1.ReplicaSet:
		informer = f.Apps().V1().ReplicaSets().Informer()
	case *storagev1.StorageClass:
		informer = storage.StorageClasses().Informer()
	case *storagev1.CSINode:
		informer = storage.CSINodes().Informer()
	case *storagev1.CSIDriver:
		informer = storage.CSIDrivers().Informer()
	case *storagev1.CSIStorageCapacity:
		informer = storage.CSIStorageCapacities().Informer()
	case *storagev1.VolumeAttachment:
		informer = storage.VolumeAttachments().Informer()
	default:
		return nil, fmt.Errorf("object kind %T is not used by any plugin", obj)
	}
	return informer.GetIndexer(), nil
}

// imageStates gives each node's view of its images twice. In the first, every
// node was added once, in the given order: as in Volcano's cache, a node's
// view is fixed when it is added, so it counts only the nodes added so far.
// In the second the counts are final. In both, the size is the one reported by
// the first node having the image.
func imageStates(nodes []*corev1.Node) (arrival, settled map[string]map[string]*fwk.ImageStateSummary) {
	type image struct {
		size  int64
		nodes map[string]bool
	}
	images := map[string]*image{}
	view := func(n *corev1.Node) map[string]*fwk.ImageStateSummary {
		out := map[string]*fwk.ImageStateSummary{}
		for _, reported := range n.Status.Images {
			for _, name := range reported.Names {
				if images[name] == nil {
					images[name] = &image{reported.SizeBytes, map[string]bool{}}
				}
				images[name].nodes[n.Name] = true
				out[name] = &fwk.ImageStateSummary{Size: images[name].size, NumNodes: len(images[name].nodes)}
			}
		}
		return out
	}
	arrival = map[string]map[string]*fwk.ImageStateSummary{}
	settled = map[string]map[string]*fwk.ImageStateSummary{}
	for _, n := range nodes {
		arrival[n.Name] = view(n)
	}
	for _, n := range nodes {
		settled[n.Name] = view(n)
	}
	return arrival, settled
}

// makePlugins builds the plugins with the arguments and features that
// Volcano's predicates and nodeorder plugins give them.
func (c *cluster) makePlugins() error {
	on := utilfeature.DefaultFeatureGate.Enabled
	filterFeatures := feature.Features{
		EnableStorageCapacityScoring:                 on(features.StorageCapacityScoring),
		EnableNodeInclusionPolicyInPodTopologySpread: on(features.NodeInclusionPolicyInPodTopologySpread),
		EnableMatchLabelKeysInPodTopologySpread:      on(features.MatchLabelKeysInPodTopologySpread),
		EnableSidecarContainers:                      on(features.SidecarContainers),
		EnableVolumeAttributesClass:                  on(features.VolumeAttributesClass),
	}
	scoreFeatures := feature.Features{
		EnableNodeInclusionPolicyInPodTopologySpread:  on(features.NodeInclusionPolicyInPodTopologySpread),
		EnableMatchLabelKeysInPodTopologySpread:       on(features.MatchLabelKeysInPodTopologySpread),
		EnablePodLevelResources:                       on(features.PodLevelResources),
		EnableInPlacePodLevelResourcesVerticalScaling: on(features.InPlacePodLevelResourcesVerticalScaling),
	}
	type maker func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)
	add := func(list *[]namedPlugin, fts feature.Features, name string, create maker, args runtime.Object) error {
		p, err := create(context.Background(), args, c.handle, fts)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*list = append(*list, namedPlugin{name, p})
		return nil
	}
	resources := func(names []string, weight int64) (out []config.ResourceSpec) {
		for _, n := range names {
			out = append(out, config.ResourceSpec{Name: n, Weight: weight})
		}
		return out
	}
	fit := func(strategy config.ScoringStrategyType, weight int64) runtime.Object {
		return &config.NodeResourcesFitArgs{ScoringStrategy: &config.ScoringStrategy{
			Type: strategy, Resources: resources([]string{"cpu", "memory"}, weight)}}
	}
	imageLocality := func(ctx context.Context, args runtime.Object, h fwk.Handle, _ feature.Features) (fwk.Plugin, error) {
		return imagelocality.New(ctx, args, h)
	}
	affinity := &config.NodeAffinityArgs{AddedAffinity: &corev1.NodeAffinity{}}
	spread := &config.PodTopologySpreadArgs{DefaultingType: config.SystemDefaulting}

	for _, p := range []struct {
		name   string
		create maker
		args   runtime.Object
	}{
		{nodeunschedulable.Name, nodeunschedulable.New, nil},
		{nodeaffinity.Name, nodeaffinity.New, affinity},
		{nodeports.Name, nodeports.New, nil},
		{tainttoleration.Name, tainttoleration.New, nil},
		{interpodaffinity.Name, interpodaffinity.New, &config.InterPodAffinityArgs{}},
		{nodevolumelimits.CSIName, nodevolumelimits.NewCSI, nil},
		{volumezone.Name, volumezone.New, nil},
		{podtopologyspread.Name, podtopologyspread.New, spread},
		{volumebinding.Name, volumebinding.New, &config.VolumeBindingArgs{BindTimeoutSeconds: 600}},
	} {
		if err := add(&c.filters, filterFeatures, p.name, p.create, p.args); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		name   string
		create maker
		args   runtime.Object
	}{
		{noderesources.Name + "_LeastAllocated", noderesources.NewFit, fit(config.LeastAllocated, 50)},
		{noderesources.Name + "_MostAllocated", noderesources.NewFit, fit(config.MostAllocated, 1)},
		{noderesources.BalancedAllocationName, noderesources.NewBalancedAllocation,
			&config.NodeResourcesBalancedAllocationArgs{Resources: resources([]string{"cpu", "memory", "nvidia.com/gpu"}, 1)}},
		{nodeaffinity.Name, nodeaffinity.New, affinity},
		{imagelocality.Name, imageLocality, nil},
		{settledImages, imageLocality, nil},
		{interpodaffinity.Name, interpodaffinity.New, &config.InterPodAffinityArgs{}},
		{tainttoleration.Name, tainttoleration.New, nil},
		{podtopologyspread.Name, podtopologyspread.New, spread},
	} {
		if err := add(&c.scores, scoreFeatures, p.name, p.create, p.args); err != nil {
			return err
		}
	}
	return nil
}

const settledImages = imagelocality.Name + "_Settled"

func answer(q *Question) (*Answer, error) {
	c, err := newCluster(q.Objects)
	if err != nil {
		return nil, fmt.Errorf("question %s: %w", q.ID, err)
	}
	a := &Answer{ID: q.ID, Pods: map[string]*PodAnswer{}}
	for _, name := range q.Pods {
		pod := c.pods[name]
		if pod == nil {
			return nil, fmt.Errorf("question %s: no pod %s", q.ID, name)
		}
		a.Pods[name] = c.ask(pod)
	}
	return a, nil
}

func refusal(s *fwk.Status) Refusal { return Refusal{s.Code().String(), s.Reasons()} }

func (c *cluster) ask(pod *corev1.Pod) *PodAnswer {
	a := &PodAnswer{
		PreFilter:     map[string]Refusal{},
		Skip:          []string{},
		Filters:       map[string]map[string]Refusal{},
		Scores:        map[string]map[string]int64{},
		SkippedScores: []string{},
		ScoreErrors:   map[string]string{},
		Scored:        []string{},
	}
	ctx := context.Background()
	state := framework.NewCycleState()
	var active []namedPlugin
	for _, f := range c.filters {
		if p, ok := f.plugin.(fwk.PreFilterPlugin); ok {
			_, s := p.PreFilter(ctx, state, pod, c.handle.nodes)
			if s.IsSkip() {
				a.Skip = append(a.Skip, f.name)
				continue
			}
			if !s.IsSuccess() {
				// Its Filter has no state to work on; the others can still speak.
				a.PreFilter[f.name] = refusal(s)
				continue
			}
		}
		active = append(active, f)
	}

	var passed, passedSettled []fwk.NodeInfo
	for i, node := range c.handle.nodes {
		refused := map[string]Refusal{}
		for _, f := range active {
			if s := f.plugin.(fwk.FilterPlugin).Filter(ctx, state, pod, node); !s.IsSuccess() {
				refused[f.name] = refusal(s)
			}
		}
		if len(refused) > 0 {
			a.Filters[node.Node().Name] = refused
		} else if len(a.PreFilter) == 0 {
			passed = append(passed, node)
			passedSettled = append(passedSettled, c.settled[i])
			a.Scored = append(a.Scored, node.Node().Name)
		}
	}
	if len(passed) == 0 {
		return a
	}

	// Volcano scores with a state of its own, not the filters'.
	state = framework.NewCycleState()
	for _, p := range c.scores {
		nodes := passed
		if p.name == settledImages {
			nodes = passedSettled
		}
		scores, skipped, err := score(ctx, p.plugin, state, pod, nodes)
		switch {
		case err != nil:
			a.ScoreErrors[p.name] = err.Error()
		case skipped:
			a.SkippedScores = append(a.SkippedScores, p.name)
		default:
			a.Scores[p.name] = scores
		}
	}
	return a
}

func score(
	ctx context.Context, plugin fwk.Plugin, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
) (scores map[string]int64, skipped bool, err error) {
	if p, ok := plugin.(fwk.PreScorePlugin); ok {
		if s := p.PreScore(ctx, state, pod, nodes); s.IsSkip() {
			return nil, true, nil
		} else if !s.IsSuccess() {
			return nil, false, s.AsError()
		}
	}
	p := plugin.(fwk.ScorePlugin)
	list := make(fwk.NodeScoreList, len(nodes))
	for i, n := range nodes {
		v, s := p.Score(ctx, state, pod, n)
		if !s.IsSuccess() {
			return nil, false, s.AsError()
		}
		list[i] = fwk.NodeScore{Name: n.Node().Name, Score: v}
	}
	if e := p.ScoreExtensions(); e != nil {
		if s := e.NormalizeScore(ctx, state, pod, list); !s.IsSuccess() {
			return nil, false, s.AsError()
		}
	}
	scores = map[string]int64{}
	for _, s := range list {
		scores[s.Name] = s.Score
	}
	return scores, false, nil
}

// sortedKeys is for output that must not depend on map order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
