package grid

import (
	"fmt"
	"strings"

	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/reproduce/phrase"
)

// Data names one data set of the table.
type Data struct {
	Name    string `yaml:"name"`     // registered name
	Printed string `yaml:"printed"`  // name that the paper prints; a figure or study may leave it out
	StandIn string `yaml:"stand_in"` // stand-in to use in sizes without real data
	// Any marks the data of finished runs that were made elsewhere, which may be any: no size takes
	// others in their place.
	Any bool `yaml:"-"`
}

// KnownData says whether a data set, or a set of slates, of this name is generated. Its
// error says that there is none.
func KnownData(name string) (standIn bool, err error) {
	for _, s := range slate.Sources() {
		if s.Name == name {
			return s.StandIn, nil
		}
	}
	return registry.Known(name)
}

// Absent says where the files of a data set come from, and under which terms, if they are
// not in the folder of data sets. It is empty where they are there. Only the names of files
// are looked at.
func Absent(name string) string {
	if strings.HasPrefix(name, experiment.ImportedData) { // an imported run keeps them itself
		return ""
	}
	for _, s := range slate.Sources() {
		if s.Name == name {
			if s.Absent("") {
				return "from " + s.From
			}
			return ""
		}
	}
	sets, err := registry.Absent(name, "")
	if err != nil {
		return err.Error() // a grid's names are checked when it is read
	}
	var from []string
	for _, s := range sets {
		line := fmt.Sprintf("from %s (%s)", s.Address, s.Licence)
		if s.Address == "" {
			line = s.Name
		}
		from = phrase.AppendNew(from, line)
	}
	return strings.Join(from, "; ")
}
