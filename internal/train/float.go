package train

import (
	"unsafe"

	"privrec/internal/tensor"
)

// floatBits is the width of the parameters: checkpoints of one build are not read by the other.
const floatBits = int(unsafe.Sizeof(tensor.Float(0))) * 8
