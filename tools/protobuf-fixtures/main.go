// Prints what the protobuf decoder of the embedded engine needs to know about the Go types of Kubernetes:
//
//	go run . table                 field tables of every message reachable from the kinds below, as JSON
//	go run . fixtures > x.json.gz  objects of the named kinds, as protobuf request bodies and as JSON, gzipped
//
// The tables come from the struct tags of the Go types, so names, inlined structs and the fields whose zero is kept are
// Go's own; the fixtures are made by Go's own serializers, so the decoder is compared with the real thing.
package main

import (
	"log"
	"os"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Every group-version whose kinds may become built-in kinds of the engine.
var groups = []func(*runtime.Scheme) error{
	corev1.AddToScheme, appsv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme,
	autoscalingv1.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme, coordinationv1.AddToScheme, discoveryv1.AddToScheme,
	eventsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
	schedulingv1.AddToScheme, storagev1.AddToScheme, admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme,
}

// The kinds that have fixtures. A kind that is added to the engine is added here.
var fixtureKinds = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("Namespace"),
	corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	corev1.SchemeGroupVersion.WithKind("Secret"),
	corev1.SchemeGroupVersion.WithKind("Service"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Node"),
	corev1.SchemeGroupVersion.WithKind("Event"),
	eventsv1.SchemeGroupVersion.WithKind("Event"),
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
	corev1.SchemeGroupVersion.WithKind("Endpoints"),
	corev1.SchemeGroupVersion.WithKind("PodTemplate"),
	corev1.SchemeGroupVersion.WithKind("Binding"),
	coordinationv1.SchemeGroupVersion.WithKind("Lease"),
	appsv1.SchemeGroupVersion.WithKind("ControllerRevision"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	policyv1.SchemeGroupVersion.WithKind("Eviction"),
	schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	autoscalingv1.SchemeGroupVersion.WithKind("Scale"),
	apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"),
	certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"),
	rbacv1.SchemeGroupVersion.WithKind("Role"),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"),
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
	authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"),
	authenticationv1.SchemeGroupVersion.WithKind("TokenReview"),
	authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"),
	authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"),
	authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"),
	authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"),
	metav1.SchemeGroupVersion.WithKind("DeleteOptions"),
	appsv1.SchemeGroupVersion.WithKind("DeleteOptions"),
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	// kubectl names meta.k8s.io/v1 for the DeleteOptions it sends; other clients name the group of the object.
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	return scheme
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . table | fixtures")
	}
	switch os.Args[1] {
	case "table":
		printTable(newScheme())
	case "fixtures":
		printFixtures(newScheme())
	default:
		log.Fatalf("unknown command %q: say table or fixtures", os.Args[1])
	}
}
