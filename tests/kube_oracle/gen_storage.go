package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (g *generator) storage() {
	class := func(name, provisioner string, mode *storagev1.VolumeBindingMode) *storagev1.StorageClass {
		c := &storagev1.StorageClass{ObjectMeta: named("", name)}
		c.Provisioner, c.VolumeBindingMode = provisioner, mode
		return c
	}
	type labelIn = corev1.TopologySelectorLabelRequirement
	allOf := func(labels ...labelIn) corev1.TopologySelectorTerm {
		return corev1.TopologySelectorTerm{MatchLabelExpressions: labels}
	}
	wait, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	zonal := class("zonal", driverA, &wait)
	zonal.AllowedTopologies = []corev1.TopologySelectorTerm{allOf(labelIn{Key: zoneKey, Values: some(g, 2, zones...)})}
	if g.percent(30) {
		zonal.AllowedTopologies = append(zonal.AllowedTopologies, allOf(
			labelIn{Key: regionKey, Values: []string{"east"}},
			labelIn{Key: rackKey, Values: some(g, 2, racks...)}))
	}
	if g.percent(5) {
		zonal.AllowedTopologies = []corev1.TopologySelectorTerm{{}} // nowhere
	}
	g.add(zonal)
	g.add(class("anywhere", driverA, &wait))
	g.add(class("local", noProvisioner, &wait))
	g.add(class("immediate", driverB, &now))
	g.add(class("modeless", driverB, nil))

	// Volumes waiting for a claim.
	for range 2 + g.IntN(5) {
		pv := g.volume(pick(g, "local", "local", "local", "anywhere"), corev1.VolumeAvailable)
		if g.percent(25) {
			pv.Status.Phase = pick(g, corev1.VolumePending, corev1.VolumeReleased)
		}
		pv.Labels["app"] = pick(g, apps...)
		if g.percent(60) {
			pv.Spec.NodeAffinity = g.volumeAffinity()
		}
		if g.percent(5) {
			pv.DeletionTimestamp = &someTime
		}
	}
	for range 4 + g.IntN(6) {
		ns := pick(g, "default", "default", "default", "team-a", "team-b")
		g.claims[ns] = append(g.claims[ns], g.claim(ns, fmt.Sprintf("claim-%d", g.next()), nil))
	}

	if g.extra {
		if g.percent(50) {
			yes := true
			g.add(&storagev1.CSIDriver{ObjectMeta: named("", driverA), Spec: storagev1.CSIDriverSpec{StorageCapacity: &yes}})
		}
		for range g.IntN(4) {
			size := g.quantity("1Gi", "3Gi", "10Gi")
			c := &storagev1.CSIStorageCapacity{ObjectMeta: named("default", fmt.Sprintf("capacity-%d", g.next()))}
			c.StorageClassName, c.Capacity = pick(g, "zonal", "anywhere"), &size
			if g.percent(85) {
				c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{zoneKey: pick(g, zones...)}}
			}
			c.MaximumVolumeSize = maybe(g, 30, resource.MustParse("2Gi"))
			g.add(c)
		}
	}
}

func named(ns, name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }

func mebibytes(n int) corev1.ResourceList {
	return corev1.ResourceList{"storage": resource.MustParse(fmt.Sprintf("%dMi", n))}
}

// volume makes a PV. All capacities differ: plugins walk PVs in random order,
// so what they do about equally small ones is not a question with an answer.
func (g *generator) volume(class string, phase corev1.PersistentVolumePhase) *corev1.PersistentVolume {
	id := g.next()
	pv := &corev1.PersistentVolume{ObjectMeta: named("", fmt.Sprintf("pv-%d", id))}
	pv.Labels = map[string]string{}
	pv.Spec.StorageClassName = class
	pv.Spec.Capacity = mebibytes(1024*(1+g.IntN(10)) + id)
	pv.Spec.AccessModes = some(g, 2, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteMany, corev1.ReadOnlyMany)
	pv.Spec.VolumeMode = maybe(g, 15, pick(g, corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock))
	pv.Status.Phase = phase
	if g.percent(80) {
		// Few handles, so that some claims share a volume.
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: pick(g, driverA, driverA, driverB)}
		pv.Spec.CSI.VolumeHandle = fmt.Sprintf("handle-%d", g.IntN(12))
	} else {
		pv.Spec.NFS = &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/"}
	}
	if g.extra && pv.Spec.CSI != nil && g.percent(30) {
		va := &storagev1.VolumeAttachment{ObjectMeta: named("", "attach-"+pv.Name)}
		va.Spec.Attacher, va.Spec.NodeName = pv.Spec.CSI.Driver, g.anyNode()
		va.Spec.Source.PersistentVolumeName = &pv.Name
		g.add(va)
	}
	g.add(pv)
	return pv
}

func (g *generator) volumeAffinity() *corev1.VolumeNodeAffinity {
	in := func(key string, values ...string) corev1.NodeSelectorTerm {
		r := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}}
	}
	terms := []corev1.NodeSelectorTerm{in(hostKey, g.anyNode(), g.anyNode(), g.anyNode())}
	switch g.IntN(6) {
	case 0, 1, 2:
		terms = []corev1.NodeSelectorTerm{in(zoneKey, some(g, 2, zones...)...)}
	case 3:
		terms = append(terms, in(rackKey, some(g, 2, racks...)...))
	case 4:
		if g.percent(30) {
			terms = []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{g.anyNode()}}}}}
		}
	}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}

// newClaim makes a PVC that nothing has happened to yet.
func (g *generator) newClaim(ns, name string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: named(ns, name)}
	c.UID = types.UID("uid-" + ns + "-" + name)
	c.Annotations = map[string]string{}
	c.Spec.AccessModes = some(g, 1, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteMany)
	c.Spec.Resources.Requests = corev1.ResourceList{"storage": g.quantity("1Gi", "2Gi", "3Gi", "5Gi")}
	c.Status.Phase = corev1.ClaimPending
	g.add(c)
	return c
}

// claim makes a PVC in one of the states a pod can meet, with its PV where it has one.
func (g *generator) claim(ns, name string, of *corev1.Pod) string {
	c := g.newClaim(ns, name)
	if of != nil && !g.percent(3) {
		c.OwnerReferences = []metav1.OwnerReference{owner("v1", "Pod", of.Name, of.UID)}
	}
	class := func(name string) { c.Spec.StorageClassName = &name }

	switch g.IntN(30) {
	default: // bound
		class(pick(g, "immediate", "anywhere", "local", ""))
		pv := g.volume(*c.Spec.StorageClassName, corev1.VolumeBound)
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: ns, Name: name, UID: c.UID}
		c.Spec.VolumeName = pv.Name
		c.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
		c.Status.Phase = corev1.ClaimBound
		if g.percent(35) {
			pv.Spec.NodeAffinity = g.volumeAffinity()
		}
		if g.percent(45) {
			pv.Labels[pick(g, zoneKey, zoneKey, betaZoneKey)] = pick(g, "z1", "z2", "z1__z2", "z2__z3", "z1__", " z3 ")
		}
		if g.percent(5) {
			pv.Labels[regionKey] = pick(g, "east", "west")
		}
		if g.percent(4) {
			c.Spec.VolumeName = "pv-gone"
		}
	case 0, 1, 2, 3, 4, 5: // waits for a node, must find a volume
		class("local")
		if g.percent(25) {
			c.Spec.Selector = g.labelSelector()
		}
		c.Spec.VolumeMode = maybe(g, 10, corev1.PersistentVolumeBlock)
		if g.percent(35) {
			pv := g.volume("local", corev1.VolumeAvailable)
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: ns, Name: name, UID: pick(g, "", c.UID, "uid-other")}
			pv.Spec.NodeAffinity = g.volumeAffinity()
		}
	case 6, 7, 8: // waits for a node, can be provisioned there
		class("zonal")
		if g.percent(30) {
			c.Annotations["volume.kubernetes.io/selected-node"] = g.anyNode()
		}
	case 9, 10:
		class("anywhere")
		if g.percent(10) {
			c.Annotations[corev1.BetaStorageClassAnnotation] = "local"
		}
	case 11: // not for the scheduler to bind
		switch g.IntN(6) {
		case 0:
			class("immediate")
		case 1:
			class("unknown")
		case 2:
			class("modeless")
		case 3: // no class at all
		case 4:
			class("local")
			c.Spec.VolumeName = "pv-gone" // pre-bound by its user
		case 5:
			class("local")
			c.Spec.VolumeName = "pv-gone"
			c.Status.Phase = corev1.ClaimLost
		}
	}
	if g.percent(1) {
		c.DeletionTimestamp = &someTime
	}
	return name
}

// rivals gives the pod a few claims that want the same few volumes: who gets
// which decides whether all get one.
func (g *generator) rivals(p *corev1.Pod) {
	local := "local"
	for i := range 2 + g.IntN(2) {
		c := g.newClaim(p.Namespace, fmt.Sprintf("rival-%d", g.next()))
		c.Spec.StorageClassName = &local
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		if g.percent(40) {
			// The picky ones show in which order claims are served.
			c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}
		v := corev1.Volume{Name: fmt.Sprintf("r%d", i)}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
		pv := g.volume(local, corev1.VolumeAvailable)
		pv.Spec.AccessModes = c.Spec.AccessModes
		pv.Spec.VolumeMode = nil
		pv.Labels["app"] = pick(g, "web", "db")
		pv.Spec.Capacity = mebibytes(1024*(1+g.IntN(6)) + g.next())
		if g.percent(30) {
			pv.Spec.NodeAffinity = g.volumeAffinity()
		}
	}
}

func (g *generator) volumes(p *corev1.Pod) {
	for i := range pick(g, 1, 1, 2, 2, 3) {
		v := corev1.Volume{Name: fmt.Sprintf("v%d", i)}
		claims := g.claims[p.Namespace]
		switch n := g.IntN(20); {
		case n < 14 && len(claims) > 0:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: pick(g, claims...)}
		case n < 16:
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}
			// Right after its creation a pod waits for this claim to be made.
			if !g.percent(4) {
				g.claim(p.Namespace, p.Name+"-"+v.Name, p)
			}
		case n == 17 && g.percent(30):
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "absent"}
		case n == 18:
			v.Image = &corev1.ImageVolumeSource{Reference: pick(g, images...)}
		default:
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// --- what default spreading looks at

func (g *generator) workloads() {
	for _, ns := range namespaces {
		for _, app := range apps {
			if g.percent(20) {
				s := &corev1.Service{ObjectMeta: named(ns, app)}
				s.Spec.Selector = map[string]string{"app": app}
				if g.percent(20) {
					s.Spec.Selector["ver"] = pick(g, versions...)
				}
				g.add(s)
			}
			if g.percent(30) {
				s := &appsv1.ReplicaSet{ObjectMeta: named(ns, "set-"+app)}
				s.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
				g.add(s)
			}
		}
	}
}
