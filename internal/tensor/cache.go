package tensor

// usualCache is the least second-level cache of today's server processors.
const usualCache = 1 << 20
