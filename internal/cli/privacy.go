package cli

// isPrivacy reports whether an error is a privacy budget that is spent or noise
// that failed its own check.
func isPrivacy(err error) bool { return false }
