package mechanismtest

// Must returns a and panics on an error, for tests.
func Must[A any](a A, err error) A {
	if err != nil {
		panic(err)
	}
	return a
}
