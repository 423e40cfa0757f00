package main

import (
	"encoding/json"
	"log"
	"os"
	"path"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Messages whose JSON is not an object with a key per field: the decoder knows each of them.
var specials = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):                                  "time",
	reflect.TypeOf(metav1.MicroTime{}):                             "microTime",
	reflect.TypeOf(resource.Quantity{}):                            "quantity",
	reflect.TypeOf(intstr.IntOrString{}):                           "intOrString",
	reflect.TypeOf(metav1.FieldsV1{}):                              "rawJson",
	reflect.TypeOf(runtime.RawExtension{}):                         "rawJson",
	reflect.TypeOf(apiextensionsv1.JSON{}):                         "rawJson",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrBool{}):        "schemaOrBool",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrArray{}):       "schemaOrArray",
	reflect.TypeOf(apiextensionsv1.JSONSchemaPropsOrStringArray{}): "schemaOrStrings",
}

type tables struct {
	// "group/version/Kind" (core: "v1/Kind") -> message
	Kinds map[string]string `json:"kinds"`
	// message -> field number -> [JSON name, type, "zero" if a zero value is meant]; an inlined message has the name ""
	Messages map[string]map[string][]string `json:"messages"`
}

func printTable(scheme *runtime.Scheme) {
	out := tables{Kinds: map[string]string{}, Messages: map[string]map[string][]string{}}
	for gvk, t := range scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || !isMessage(t) {
			continue
		}
		out.Kinds[gvk.GroupVersion().String()+"/"+gvk.Kind] = out.message(t)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		log.Fatal(err)
	}
}

func isMessage(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("Unmarshal")
	return ok
}

func messageName(t reflect.Type) string {
	dir, version := path.Split(t.PkgPath())
	return path.Base(dir) + "." + version + "." + t.Name()
}

func (out *tables) message(t reflect.Type) string {
	name := messageName(t)
	if _, known := out.Messages[name]; known {
		return name
	}
	fields := map[string][]string{}
	out.Messages[name] = fields
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		tag := field.Tag.Get("protobuf")
		if tag == "" || tag == "-" {
			continue
		}
		jsonName, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if jsonName == "-" {
			continue
		}
		entry := []string{jsonName, out.typeOf(field.Type)}
		if field.Type.Kind() == reflect.Pointer || !strings.Contains(options, "omitempty") {
			entry = append(entry, "zero")
		}
		fields[strings.Split(tag, ",")[1]] = entry
	}
	return name
}

func (out *tables) typeOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if special, ok := specials[t]; ok {
		if strings.HasPrefix(special, "schema") {
			out.message(reflect.TypeOf(apiextensionsv1.JSONSchemaProps{}))
		}
		return special
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return t.Kind().String()
	case reflect.Float64:
		return "double"
	case reflect.Struct:
		return out.message(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			log.Fatalf("%s: a map whose keys are not strings", t)
		}
		return "map:" + out.typeOf(t.Elem())
	case reflect.Slice:
		switch {
		case t.Elem().Kind() == reflect.Uint8:
			return "bytes"
		case isMessage(t): // a named list, which protobuf can only say as a message with one repeated field
			return "items:" + out.typeOf(t.Elem())
		}
		return "[]" + out.typeOf(t.Elem())
	}
	log.Fatalf("%s: no protobuf type known", t)
	return ""
}
