package report

import "reflect"

// cleanDocument returns a copy of the document in which every text has gone
// through [clean]. A renderer that shows all of a document cleans it once, here,
// and cannot forget a field.
func cleanDocument(doc *Document) *Document {
	out := cleanValue(reflect.ValueOf(*doc)).Interface().(Document)
	return &out
}

// cleanValue copies a value deeply and cleans the texts in it.
func cleanValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(clean(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(cleanValue(v.Field(i)))
		}
	case reflect.Slice:
		if isNumbers(v.Type()) || v.IsNil() {
			return v // never written to, and most of a document
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(cleanValue(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for _, k := range sortedValues(v) {
			out.SetMapIndex(cleanValue(k), cleanValue(v.MapIndex(k)))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(cleanValue(v.Elem()))
	default:
		return v // numbers and truth values
	}
	return out
}

func isNumbers(t reflect.Type) bool { return t.Elem() == reflect.TypeFor[Number]() }

// sortedValues returns the keys of a map with text keys in order, so that two keys
// that are cleaned to the same text give the same answer every time.
func sortedValues(m reflect.Value) []reflect.Value {
	byText := map[string]reflect.Value{}
	for _, k := range m.MapKeys() {
		byText[k.String()] = k
	}
	return mapSlice(sortedKeys(byText), func(s string) reflect.Value { return byText[s] })
}
