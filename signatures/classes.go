package signatures

import (
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// Class is a root-cause class of the taxonomy (classes.yaml).
type Class struct {
	ID    string `yaml:"id"`
	Means string `yaml:"means"`
	// Fix is the advice for findings whose signature has none.
	Fix string `yaml:"fix"`
}

var classTable = sync.OnceValue(func() []Class {
	data, err := embedded.ReadFile("classes.yaml")
	if err != nil {
		panic(err) // the file is embedded: a build without it does not exist
	}
	var doc struct {
		Classes []Class `yaml:"classes"`
	}
	if err := yaml.UnmarshalWithOptions(data, &doc, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("classes.yaml: %v", err)) // proved by the package's tests
	}
	return doc.Classes
})

// Classes returns the taxonomy in its published order.
func Classes() []Class { return classTable() }

// ClassByID returns the class with that id, or nil.
func ClassByID(id string) *Class {
	list := classTable()
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

var glueTable = sync.OnceValue(func() []string {
	data, err := embedded.ReadFile("frames.yaml")
	if err != nil {
		panic(err)
	}
	var doc struct {
		Glue []string `yaml:"glue"`
	}
	if err := yaml.UnmarshalWithOptions(data, &doc, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("frames.yaml: %v", err))
	}
	return doc.Glue
})

// IsGlue reports whether a frame, as "path:function", is library or glue code
// that says nothing about a failure (frames.yaml).
func IsGlue(frame string) bool {
	for _, g := range glueTable() {
		if strings.Contains(frame, g) {
			return true
		}
	}
	return false
}
