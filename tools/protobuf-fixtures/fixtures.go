package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type fixture struct {
	Name     string          `json:"name"`
	Protobuf []byte          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

func printFixtures(scheme *runtime.Scheme) {
	var fixtures []fixture
	serializer := protobuf.NewSerializer(scheme, scheme)
	for _, gvk := range fixtureKinds {
		for _, how := range []string{"full", "zeros", "empty"} {
			object, err := scheme.New(gvk)
			if err != nil {
				log.Fatal(err)
			}
			if how != "empty" {
				filler := filler{zeros: how == "zeros"}
				filler.fill(reflect.ValueOf(object).Elem(), 0)
			}
			object.GetObjectKind().SetGroupVersionKind(gvk)
			var body bytes.Buffer
			if err := serializer.Encode(object, &body); err != nil {
				log.Fatal(err)
			}
			asJSON, err := json.Marshal(object)
			if err != nil {
				log.Fatal(err)
			}
			name := fmt.Sprintf("%s %s, %s", gvk.GroupVersion(), gvk.Kind, how)
			fixtures = append(fixtures, fixture{Name: name, Protobuf: body.Bytes(), JSON: asJSON})
		}
	}
	out, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(out).Encode(fixtures); err != nil {
		log.Fatal(err)
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}

// filler sets every field: to telling values, or (zeros) every pointer to a zero value, every list of structs to such
// structs and everything else to nothing, which shows whose zeros are kept.
type filler struct {
	zeros bool
	count int64
}

const deepest = 14

func (f *filler) fill(v reflect.Value, depth int) {
	f.count++
	if depth > deepest {
		return
	}
	if v.CanAddr() && f.special(v.Addr().Interface(), depth) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if v.Type().Field(i).Tag.Get("protobuf") != "" {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		switch {
		case f.zeros && v.Type().Elem().Kind() != reflect.Struct:
			return
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes([]byte{0, 255, byte(f.count)})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), depth+2)
		f.fill(v.Index(1), depth+8)
	case reflect.Map:
		if f.zeros {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{fmt.Sprintf("k-%d", f.count), "é"} {
			item := reflect.New(v.Type().Elem()).Elem()
			f.fill(item, depth+3)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
		}
	}
	if f.zeros {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d é\U0001F600", f.count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32:
		v.SetInt(-f.count)
	case reflect.Int64:
		v.SetInt(f.count << 40)
	case reflect.Float64:
		v.SetFloat(float64(f.count) + 0.5)
	}
}

// special fills the types that are not what their fields say; true if it did.
func (f *filler) special(pointer any, depth int) bool {
	seconds := 1700000000 + f.count
	switch value := pointer.(type) {
	case *metav1.Time:
		if !f.zeros {
			*value = metav1.Unix(seconds, 0)
		}
	case *metav1.MicroTime:
		if !f.zeros {
			*value = metav1.MicroTime{Time: time.Unix(seconds, (f.count%1000)*1000)}
		}
	case *resource.Quantity:
		*value = resource.MustParse("0")
		if !f.zeros {
			*value = resource.MustParse(fmt.Sprintf("%dMi", f.count))
		}
	case *intstr.IntOrString:
		switch {
		case f.zeros:
		case f.count%2 == 0:
			*value = intstr.FromString(fmt.Sprintf("%d%%", f.count))
		default:
			*value = intstr.FromInt32(int32(-f.count))
		}
	case *metav1.FieldsV1:
		value.Raw = []byte(fmt.Sprintf(`{"f:spec":{"f:n%d":{}}}`, f.count))
	case *runtime.RawExtension:
		value.Raw = []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"X","n":%d}`, f.count))
	case *apiextensionsv1.JSON:
		value.Raw = []byte(fmt.Sprintf(`{"n":[%d,null,"x"]}`, f.count))
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		value.Allows = !f.zeros
		if f.count%2 == 0 {
			value.Allows = true
			value.Schema = &apiextensionsv1.JSONSchemaProps{}
			f.fill(reflect.ValueOf(value.Schema).Elem(), depth+7)
		}
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		if f.count%2 == 0 {
			value.Schema = &apiextensionsv1.JSONSchemaProps{}
			f.fill(reflect.ValueOf(value.Schema).Elem(), depth+7)
		} else {
			value.JSONSchemas = []apiextensionsv1.JSONSchemaProps{{Type: "string"}, {Type: "integer"}}
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		if f.count%2 == 0 {
			value.Schema = &apiextensionsv1.JSONSchemaProps{Type: "string"}
		} else {
			value.Property = []string{"a", "b"}
		}
	default:
		return false
	}
	return true
}
