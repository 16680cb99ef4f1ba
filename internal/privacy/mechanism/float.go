package mechanism

// Float is the element type of the data: tensor.Float under either build.
type Float interface{ ~float32 | ~float64 }
