package papers

import (
	"privrec/internal/epsilons"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/papers/exposure"
	"privrec/internal/papers/gerai"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/papers/rdpgcf"
)

// Epsilons returns every paper with settings for privrec account epsilon.
func Epsilons() []epsilons.Paper {
	return []epsilons.Paper{dipsgnn.EpsilonRows(), rdpgcf.EpsilonRows(), gerai.EpsilonRows(), pricdsr.EpsilonRows(),
		exposure.EpsilonRows()}
}
