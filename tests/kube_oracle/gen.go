package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	zoneKey     = corev1.LabelTopologyZone
	regionKey   = corev1.LabelTopologyRegion
	betaZoneKey = corev1.LabelFailureDomainBetaZone
	hostKey     = corev1.LabelHostname
	rackKey     = "example.com/rack"
	tierKey     = "tier" // integers, mostly, for Gt and Lt
	diskKey     = "disk"

	driverA, driverB = "a.csi.example.com", "b.csi.example.com"
	noProvisioner    = "kubernetes.io/no-provisioner"

	noSchedule       = corev1.TaintEffectNoSchedule
	noExecute        = corev1.TaintEffectNoExecute
	preferNoSchedule = corev1.TaintEffectPreferNoSchedule
)

var (
	topologyKeys = []string{hostKey, hostKey, zoneKey, zoneKey, zoneKey, rackKey, rackKey, regionKey}
	namespaces   = []string{"default", "team-a", "team-b"}
	zones        = []string{"z1", "z2", "z3"}
	racks        = []string{"r1", "r2", "r3", "r4"}
	tiers        = []string{"1", "2", "5", "10", "010", "high"}
	apps         = []string{"web", "db", "cache"}
	versions     = []string{"v1", "v2"}
	taintKeys    = []string{"dedicated", "gpu", "spot"}
	taintValues  = []string{"", "x", "y"}
	images       = []string{"team/app:v1", "nginx", "box:5000/tool", "busybox:1.36", "team/model@sha256:0123"}
	imageSizes   = []int64{5 << 20, 30 << 20, 250 << 20, 700 << 20, 1500 << 20, 4000 << 20}
	someTime     = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
)

// Everything at once leaves no node standing, so a question dwells on a few
// subjects and touches the others rarely.
type subject int

const (
	taints subject = iota
	nodeAffinity
	ports
	podAffinity
	spreading
	resources
	volumes
	subjects // how many there are
)

type generator struct {
	*rand.Rand
	extra   bool
	focus   [subjects]bool
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	others  []runtime.Object
	claims  map[string][]string // namespace -> names of existing claims
	counter int
}

// generate makes question number i of a seed; it does not depend on how many are made.
func generate(seed uint64, i int, extra bool) *Question {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(i))), extra: extra, claims: map[string][]string{}}
	for range 1 + g.IntN(3) {
		// Volumes come in the most kinds, spreading needs the most luck.
		s := pick(g, taints, nodeAffinity, ports, podAffinity, resources, spreading, spreading, volumes, volumes)
		g.focus[s] = true
	}
	for _, ns := range namespaces {
		g.namespace(ns)
	}
	for n := range 3 + g.IntN(10) {
		g.node(fmt.Sprintf("node-%02d", n))
	}
	if g.focus[volumes] || g.percent(10) {
		g.storage()
	}
	if extra {
		g.workloads()
	}

	q := &Question{ID: fmt.Appendf(nil, `"%d-%d"`, seed, i)}
	total := 5 + g.IntN(26)
	asked := 1 + g.IntN(3)
	for p := range total {
		pending := p < asked
		pod := g.pod(fmt.Sprintf("pod-%02d", p), pending)
		if pending {
			q.Pods = append(q.Pods, pod.Namespace+"/"+pod.Name)
		}
	}

	var objects []runtime.Object
	for _, n := range g.nodes {
		objects = append(objects, n)
	}
	objects = append(objects, g.others...)
	for _, p := range g.pods {
		objects = append(objects, p)
	}
	for _, o := range objects {
		kinds, _, err := scheme.Scheme.ObjectKinds(o)
		if err != nil {
			panic(err)
		}
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
		raw, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		q.Objects = append(q.Objects, raw)
	}
	return q
}

// --- dice

func (g *generator) percent(p int) bool { return g.IntN(100) < p }

// about is for features that are common in their subject's questions and have
// the given small chance elsewhere.
func (g *generator) about(s subject, otherwise int) bool {
	if g.focus[s] {
		return g.percent(65)
	}
	return g.percent(otherwise)
}

func (g *generator) topologyKey() string {
	if g.percent(3) {
		return "example.com/absent"
	}
	return pick(g, topologyKeys...)
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// some picks up to max different elements, at least one, in their order.
func some[T any](g *generator, max int, from ...T) []T {
	n := min(1+g.IntN(max), len(from))
	chosen := g.Perm(len(from))[:n]
	slices.Sort(chosen)
	var out []T
	for _, i := range chosen {
		out = append(out, from[i])
	}
	return out
}

func maybe[T any](g *generator, percent int, v T) *T {
	if g.percent(percent) {
		return &v
	}
	return nil
}

func (g *generator) next() int {
	g.counter++
	return g.counter
}

func (g *generator) add(o runtime.Object) { g.others = append(g.others, o) }

// --- nodes and namespaces

func (g *generator) namespace(name string) {
	if g.percent(8) {
		return // pods can outlive what the informer knows about their namespace
	}
	ns := &corev1.Namespace{ObjectMeta: named("", name)}
	if g.percent(80) {
		ns.Labels = map[string]string{"env": pick(g, "prod", "dev")}
		if g.percent(50) {
			ns.Labels["team"] = pick(g, "a", "b")
		}
	}
	g.add(ns)
}

func (g *generator) node(name string) {
	n := &corev1.Node{ObjectMeta: named("", name)}
	if !g.percent(3) {
		n.Labels = map[string]string{}
		label := func(percent int, key, value string) {
			if g.percent(percent) {
				n.Labels[key] = value
			}
		}
		label(94, hostKey, name)
		label(88, zoneKey, pick(g, zones...))
		label(10, betaZoneKey, pick(g, zones...))
		label(60, regionKey, pick(g, "east", "west"))
		label(75, rackKey, pick(g, racks...))
		label(60, tierKey, pick(g, tiers...))
		label(60, diskKey, pick(g, "ssd", "hdd"))
	}

	for range 2 {
		if g.about(taints, 8) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{
				Key:    pick(g, taintKeys...),
				Value:  pick(g, taintValues...),
				Effect: pick(g, noSchedule, noExecute, preferNoSchedule, preferNoSchedule),
			})
		}
	}
	if g.percent(5) || g.focus[taints] && g.percent(20) {
		n.Spec.Unschedulable = true
		if g.percent(60) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: noSchedule})
		}
	}

	n.Status.Allocatable = corev1.ResourceList{"pods": resource.MustParse("110")}
	if !g.percent(2) {
		n.Status.Allocatable["cpu"] = resource.MustParse(pick(g, "2", "3920m", "8", "16", "31.5", "64"))
	}
	if !g.percent(2) {
		n.Status.Allocatable["memory"] = resource.MustParse(pick(g, "4Gi", "7935032Ki", "16Gi", "64G", "128Gi"))
	}
	if g.percent(40) {
		n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse(pick(g, "0", "1", "4", "8"))
	}

	for _, image := range images {
		if !g.percent(45) {
			continue
		}
		names := []string{image}
		if image == "nginx" || image == "box:5000/tool" {
			names = []string{image + ":latest"}
		}
		if g.percent(30) {
			names = append(names, fmt.Sprintf("%s@sha256:%04d", image, g.IntN(3)))
		}
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: names, SizeBytes: pick(g, imageSizes...)})
	}
	g.nodes = append(g.nodes, n)

	if g.about(volumes, 5) {
		csi := &storagev1.CSINode{ObjectMeta: named("", name)}
		for _, driver := range some(g, 2, driverA, driverB) {
			d := storagev1.CSINodeDriver{Name: driver, NodeID: name}
			if g.percent(85) {
				d.Allocatable = &storagev1.VolumeNodeResources{Count: maybe(g, 90, int32(g.IntN(5)))}
			}
			csi.Spec.Drivers = append(csi.Spec.Drivers, d)
		}
		g.add(csi)
	}
}

func (g *generator) anyNode() string { return g.nodes[g.IntN(len(g.nodes))].Name }

// --- selectors

func (g *generator) podLabels() map[string]string {
	if g.percent(5) {
		return nil
	}
	l := map[string]string{"app": pick(g, apps...)}
	if g.percent(60) {
		l["ver"] = pick(g, versions...)
	}
	return l
}

// labelSelector selects among pods, or among PVs with their "app" label.
func (g *generator) labelSelector() *metav1.LabelSelector {
	switch g.IntN(12) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2, 3, 4, 5:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(g, apps...)}}
	case 6:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(g, apps...), "ver": pick(g, versions...)}}
	}
	s := &metav1.LabelSelector{}
	for range 1 + g.IntN(2) {
		e := g.expression("app", apps)
		if g.percent(40) {
			e = g.expression("ver", versions)
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	if g.percent(20) {
		s.MatchLabels = map[string]string{"ver": pick(g, versions...)}
	}
	return s
}

func (g *generator) expression(key string, values []string) metav1.LabelSelectorRequirement {
	r := metav1.LabelSelectorRequirement{Key: key, Operator: pick(g,
		metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
	if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
		r.Values = some(g, 2, values...)
	}
	return r
}

func (g *generator) namespaceSelector() *metav1.LabelSelector {
	switch g.IntN(10) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"env": pick(g, "prod", "dev")}}
	case 2, 3:
		e := g.expression("env", []string{"prod", "dev"})
		if g.percent(40) {
			e = g.expression("team", []string{"a", "b"})
		}
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{e}}
	}
	return nil
}

func (g *generator) nodeRequirement() corev1.NodeSelectorRequirement {
	key, values := diskKey, []string{"ssd", "hdd"}
	switch g.IntN(6) {
	case 0:
		key, values = zoneKey, zones
	case 1:
		key, values = rackKey, racks
	case 2:
		key, values = hostKey, []string{g.anyNode(), g.anyNode()}
	case 3, 4:
		key, values = tierKey, tiers
	}
	r := corev1.NodeSelectorRequirement{Key: key}
	if key == tierKey && g.percent(70) {
		r.Operator = pick(g, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
		r.Values = []string{pick(g, "0", "2", "4", "10")}
		if g.percent(3) {
			r.Values = []string{pick(g, "many", "-5")} // neither an integer nor a label value: the term is broken
		}
		return r
	}
	r.Operator = pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn,
		corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)
	if r.Operator == corev1.NodeSelectorOpIn || r.Operator == corev1.NodeSelectorOpNotIn {
		r.Values = some(g, 3, values...)
	}
	return r
}

func (g *generator) nodeTerm() corev1.NodeSelectorTerm {
	t := corev1.NodeSelectorTerm{}
	if g.percent(6) {
		return t
	}
	if g.percent(85) {
		for range 1 + g.IntN(2) {
			t.MatchExpressions = append(t.MatchExpressions, g.nodeRequirement())
		}
	}
	if len(t.MatchExpressions) == 0 || g.percent(15) {
		for range 1 + g.IntN(5)/4 {
			t.MatchFields = append(t.MatchFields, corev1.NodeSelectorRequirement{
				Key:      metav1.ObjectNameField,
				Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn),
				Values:   []string{g.anyNode()},
			})
		}
	}
	return t
}
