package format

import (
	"bytes"
	"context"
	"io"
)

// SameLines reports whether two files, plain or compressed, have the same lines.
func SameLines(ctx context.Context, a, b string) (bool, error) {
	x, err := openInput(ctx, a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := openInput(ctx, b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	for {
		p, errP := x.line()
		q, errQ := y.line()
		for _, err := range []error{errP, errQ} {
			if err != nil && err != io.EOF {
				return false, err
			}
		}
		if errP != nil || errQ != nil {
			return errP == errQ, nil
		}
		if !bytes.Equal(p, q) {
			return false, nil
		}
	}
}
