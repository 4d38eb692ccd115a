package signatures

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// Class is a root-cause class of the taxonomy (classes.yaml).
type Class struct {
	ID    string `yaml:"id"`
	Means string `yaml:"means"`
	// Fix is the advice for findings whose signature has none.
	Fix string `yaml:"fix"`
}

// Classes returns the taxonomy in its published order.
func Classes() []Class {
	lib, err := decoded()
	if err != nil {
		panic(err) // the file is embedded and proved by the package's tests
	}
	return lib.classes
}

// ClassByID returns the class with that id, or nil.
func ClassByID(id string) *Class {
	list := Classes()
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// readTables reads the sources of the classes and of the glue frames.
func readTables() (classes []Class, glue []string, err error) {
	var doc struct {
		Classes []Class  `yaml:"classes"`
		Glue    []string `yaml:"glue"`
	}
	for _, name := range []string{"classes.yaml", "frames.yaml"} {
		data, err := embedded.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		if err := yaml.UnmarshalWithOptions(data, &doc, yaml.Strict()); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return doc.Classes, doc.Glue, nil
}

// IsGlue reports whether a frame, as "path:function", is library or glue code
// that says nothing about a failure (frames.yaml).
func IsGlue(frame string) bool {
	lib, err := decoded()
	if err != nil {
		panic(err)
	}
	for _, g := range lib.glue {
		if strings.Contains(frame, g) {
			return true
		}
	}
	return false
}
