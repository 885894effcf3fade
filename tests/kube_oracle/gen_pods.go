package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (g *generator) pod(name string, pending bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name:      name,
		Namespace: pick(g, "default", "default", "default", "team-a", "team-b"),
		UID:       types.UID("uid-" + name),
		Labels:    g.podLabels(),
	}}
	if g.focus[spreading] && g.percent(60) {
		p.Namespace = "default" // only pods of the same namespace count
	}
	p.Status.Phase = corev1.PodPending
	if !pending && !g.percent(4) {
		p.Spec.NodeName = g.anyNode()
		p.Status.Phase = corev1.PodRunning
		if g.percent(6) {
			p.Status.Phase = pick(g, corev1.PodSucceeded, corev1.PodFailed)
		}
	}
	if !pending && g.percent(10) {
		p.DeletionTimestamp = &someTime
	}
	g.containers(p)
	g.tolerations(p)
	if len(g.claims) > 0 && g.about(volumes, 10) {
		if pending && g.percent(25) {
			g.rivals(p)
		} else {
			g.volumes(p)
		}
	}
	if pending {
		g.nodeSelection(p)
		g.spread(p)
	}
	g.podAffinity(p, pending)
	if g.extra && g.percent(20) {
		p.OwnerReferences = []metav1.OwnerReference{owner("apps/v1", "ReplicaSet", "set-"+pick(g, apps...), "uid-set")}
	}
	g.pods = append(g.pods, p)
	return p
}

func owner(version, kind, name string, uid types.UID) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid, Controller: &yes}
}

func (g *generator) quantity(from ...string) resource.Quantity {
	return resource.MustParse(pick(g, from...))
}

func (g *generator) cpu() resource.Quantity {
	if g.percent(4) {
		return g.quantity("0", "1500u", "0.0005")
	}
	return g.quantity("10m", "100m", "250m", "500m", "1", "1.5", "2")
}

func (g *generator) memory() resource.Quantity {
	if g.percent(4) {
		return g.quantity("0", "129e6", "1.5Gi")
	}
	return g.quantity("64Mi", "128Mi", "500M", "1Gi", "2Gi", "4Gi")
}

func (g *generator) cpuAndMemory() corev1.ResourceList {
	return corev1.ResourceList{"cpu": g.cpu(), "memory": g.memory()}
}

func (g *generator) requests() corev1.ResourceList {
	l := corev1.ResourceList{}
	if g.percent(70) {
		l["cpu"] = g.cpu()
	}
	if g.percent(70) {
		l["memory"] = g.memory()
	}
	if g.percent(8) || g.focus[resources] && g.percent(15) {
		l["nvidia.com/gpu"] = g.quantity("1", "2")
	}
	if len(l) == 0 {
		return nil
	}
	return l
}

func (g *generator) containers(p *corev1.Pod) {
	one := func(name string) corev1.Container {
		c := corev1.Container{Name: name, Image: pick(g, images...)}
		if !g.percent(15) {
			c.Resources.Requests = g.requests()
		}
		if g.percent(10) {
			c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi")}
		}
		if g.about(ports, 3) {
			for range 1 + g.IntN(2) {
				c.Ports = append(c.Ports, corev1.ContainerPort{
					ContainerPort: 80,
					HostPort:      pick[int32](g, 0, 8080, 8080, 9090, 53),
					Protocol:      pick(g, "", corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
					HostIP:        pick(g, "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::"),
				})
			}
		}
		return c
	}
	for i := range pick(g, 1, 1, 1, 2, 3) {
		p.Spec.Containers = append(p.Spec.Containers, one(fmt.Sprintf("c%d", i)))
	}
	if g.about(resources, 10) {
		always := corev1.ContainerRestartPolicyAlways
		for i := range 1 + g.IntN(3) {
			c := one(fmt.Sprintf("i%d", i))
			c.RestartPolicy = maybe(g, 45, always)
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	}
	rare := 5
	if g.focus[resources] {
		rare = 25
	}
	if g.percent(rare) {
		p.Spec.Overhead = g.cpuAndMemory()
	}
	if g.percent(rare) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
		if g.percent(70) {
			p.Spec.Resources.Requests["cpu"] = g.quantity("1", "2", "3")
		}
		if g.percent(70) {
			p.Spec.Resources.Requests["memory"] = g.quantity("2Gi", "5Gi")
		}
	}
	// A container being resized in place counts with the larger of what it has and what it wants.
	if p.Spec.NodeName != "" && g.percent(rare) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:               "c0",
			AllocatedResources: g.cpuAndMemory(),
			Resources:          &corev1.ResourceRequirements{Requests: g.cpuAndMemory()},
		}}
		if g.percent(30) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue,
				Reason: pick(g, corev1.PodReasonInfeasible, corev1.PodReasonDeferred)}}
		}
	}
}

func (g *generator) tolerations(p *corev1.Pod) {
	if !g.about(taints, 10) {
		return
	}
	for range 1 + g.IntN(3) {
		t := corev1.Toleration{
			Key:      pick(g, taintKeys...),
			Operator: pick(g, "", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpExists),
			Effect:   pick(g, "", "", noSchedule, noExecute, preferNoSchedule),
		}
		switch g.IntN(12) {
		case 0:
			t.Key, t.Operator = "", corev1.TolerationOpExists
		case 1, 2:
			t.Key = corev1.TaintNodeUnschedulable
		case 3:
			// Known to the API, but off by default: tolerates nothing.
			t.Operator, t.Value = pick(g, corev1.TolerationOpLt, corev1.TolerationOpGt), "5"
		}
		if (t.Operator == "" || t.Operator == corev1.TolerationOpEqual) && t.Key != corev1.TaintNodeUnschedulable {
			t.Value = pick(g, taintValues...)
		}
		if t.Effect == noExecute {
			t.TolerationSeconds = maybe(g, 40, int64(30))
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
}

func affinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func (g *generator) nodeSelection(p *corev1.Pod) {
	if g.percent(3) || g.focus[nodeAffinity] && g.percent(25) {
		p.Spec.NodeSelector = map[string]string{diskKey: pick(g, "ssd", "hdd")}
		if g.percent(30) {
			p.Spec.NodeSelector = map[string]string{zoneKey: pick(g, zones...)}
		}
	}
	if g.percent(3) || g.focus[nodeAffinity] && g.percent(50) {
		required := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{}}
		for range 1 + g.IntN(3) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, g.nodeTerm())
		}
		affinityOf(p).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}
	}
	if g.about(nodeAffinity, 15) {
		var terms []corev1.PreferredSchedulingTerm
		for range 1 + g.IntN(4) {
			terms = append(terms, corev1.PreferredSchedulingTerm{Weight: 1 + g.Int32N(100), Preference: g.nodeTerm()})
		}
		a := affinityOf(p)
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = terms
	}
}

func (g *generator) affinityTerm(p *corev1.Pod) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{
		LabelSelector:     g.labelSelector(),
		TopologyKey:       g.topologyKey(),
		NamespaceSelector: g.namespaceSelector(),
	}
	if g.percent(25) {
		t.Namespaces = some(g, 2, namespaces...)
	}
	// The API server turns these keys into expressions and plugins ignore them;
	// half the time pretend that it did.
	if g.percent(8) && t.LabelSelector != nil {
		op := metav1.LabelSelectorOpIn
		if g.percent(50) {
			t.MatchLabelKeys = []string{"ver"}
		} else {
			t.MismatchLabelKeys = []string{"ver"}
			op = metav1.LabelSelectorOpNotIn
		}
		if v := p.Labels["ver"]; v != "" && g.percent(50) {
			t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: "ver", Operator: op, Values: []string{v}})
		}
	}
	return t
}

func (g *generator) podAffinity(p *corev1.Pod, pending bool) {
	chance := func(focused, otherwise int) bool {
		if g.focus[podAffinity] {
			return g.percent(focused)
		}
		return g.percent(otherwise)
	}
	required := func() (out []corev1.PodAffinityTerm) {
		for range 1 + g.IntN(2) {
			t := g.affinityTerm(p)
			if g.percent(25) {
				// A pod that goes with its like can be the first of its kind.
				t.LabelSelector = &metav1.LabelSelector{MatchLabels: p.Labels}
			}
			out = append(out, t)
		}
		return out
	}
	preferred := func() (out []corev1.WeightedPodAffinityTerm) {
		for range 1 + g.IntN(3) {
			t := corev1.WeightedPodAffinityTerm{Weight: 1 + g.Int32N(100), PodAffinityTerm: g.affinityTerm(p)}
			out = append(out, t)
		}
		return out
	}
	hard, anti, soft := 3, 4, 12
	if pending {
		hard, anti, soft = 45, 30, 60
	} else if g.focus[podAffinity] {
		hard, anti, soft = 15, 8, 30
	}
	must, would := maybeTerms(chance(hard, 2), required), maybeTerms(chance(soft, 10), preferred)
	if must != nil || would != nil {
		affinityOf(p).PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  must,
			PreferredDuringSchedulingIgnoredDuringExecution: would,
		}
	}
	must, would = maybeTerms(chance(anti, 2), required), maybeTerms(chance(soft, 8), preferred)
	if must != nil || would != nil {
		affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  must,
			PreferredDuringSchedulingIgnoredDuringExecution: would,
		}
	}
}

func maybeTerms[T any](yes bool, terms func() []T) []T {
	if !yes {
		return nil
	}
	return terms()
}

func (g *generator) spread(p *corev1.Pod) {
	if !g.about(spreading, 8) {
		return
	}
	policy := func() *corev1.NodeInclusionPolicy {
		return maybe(g, 50, pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	used := map[string]bool{} // the API forbids one key twice with the same action
	for range 1 + g.IntN(3) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew:            pick[int32](g, 1, 1, 1, 2, 3),
			TopologyKey:        g.topologyKey(),
			WhenUnsatisfiable:  pick(g, corev1.DoNotSchedule, corev1.ScheduleAnyway),
			LabelSelector:      g.labelSelector(),
			NodeAffinityPolicy: policy(),
			NodeTaintsPolicy:   policy(),
		}
		if g.percent(50) && p.Labels != nil {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
		}
		if used[c.TopologyKey+string(c.WhenUnsatisfiable)] {
			continue
		}
		used[c.TopologyKey+string(c.WhenUnsatisfiable)] = true
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			c.MinDomains = maybe(g, 40, 1+g.Int32N(5))
		}
		if c.LabelSelector != nil && g.percent(25) {
			c.MatchLabelKeys = some(g, 2, "app", "ver", "pod-template-hash")
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}
