package tensor

// usualCache is the size of the smallest second-level cache of today's server processors, in bytes.
const usualCache = 1 << 20
