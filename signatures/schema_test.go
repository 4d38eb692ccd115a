package signatures

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "pack.schema.json"

// TestSchemaPacks validates every pack as an editor does.
func TestSchemaPacks(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	names, texts, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	names, texts = append(names, "draft"), append(texts, []byte(Draft(Failure{
		Engine: "sglang", Class: "runtime.kernel-error", Choices: []string{"runtime.hang"}, Type: "FrobError", Message: "layer 3: it's {odd}",
		Frame: "/sgl/layers/frob.py:turn", FrameLine: 7, Source: "server.log:1",
	}, func(string) bool { return false })))
	for i, data := range texts {
		var doc any
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"unknown key":    `signatures: [{id: a.b, title: t, layer: bug, role: advice, line: [words], examples: {match: [words]}, colour: red}]`,
		"no pattern":     `signatures: [{id: a.b, title: t, layer: bug, role: advice, examples: {match: [words]}}]`,
		"unknown class":  `signatures: [{id: a.b, title: t, layer: bug, role: advice, class: x.y, line: [words], examples: {match: [words]}}]`,
		"cause, no fix":  `signatures: [{id: a.b, title: t, layer: bug, role: cause, class: ok, means: m, line: [words], examples: {match: [words]}}]`,
		"no example":     `signatures: [{id: a.b, title: t, layer: bug, role: advice, line: [words], examples: {match: []}}]`,
		"not a sequence": `signatures: {id: a.b}`,
	} {
		var doc any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s: the schema accepts %s", name, text)
		}
	}
}

// TestSchemaAgrees holds the schema to the Go types and to the words that the
// loader knows.
func TestSchemaAgrees(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage
	}
	var doc struct {
		object
		Defs struct {
			Class     struct{ Enum []string }
			Signature struct {
				Properties map[string]struct {
					object
					Enum  []string
					Items struct{ Enum []string }
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	sig := doc.Defs.Signature.Properties
	for _, tt := range []struct {
		name      string
		got, want []string
	}{
		{"pack keys", slices.Sorted(maps.Keys(doc.Properties)), sorted(fieldNames(reflect.TypeFor[Pack]()))},
		{"signature keys", slices.Sorted(maps.Keys(sig)), sorted(fieldNames(reflect.TypeFor[Signature]()))},
		{"example keys", slices.Sorted(maps.Keys(sig["examples"].Properties)), sorted(fieldNames(reflect.TypeFor[Examples]()))},
		{"layers", sig["layer"].Enum, layerNames},
		{"roles", sig["role"].Enum, roleNames},
		{"phases", sig["phase"].Enum, phaseNames},
		{"engines", sig["engine"].Items.Enum, engineNames},
		{"writers", sig["in"].Items.Enum, writerNames},
		{"classes", doc.Defs.Class.Enum, classIDs()},
	} {
		if diff := cmp.Diff(tt.got, tt.want); diff != "" {
			t.Errorf("%s of %s (-schema +program):\n%s", tt.name, schemaFile, diff)
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func classIDs() []string {
	var ids []string
	for _, c := range Classes() {
		ids = append(ids, c.ID)
	}
	return ids
}
