package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// verify returns an error for the faults of a wheel: files and RECORD that disagree, a program that cannot be executed,
// or one that differs from binary, if given.
func verify(wheel, binary string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	files, runs := map[string][]byte{}, ""
	var wrong []error
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		body, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %s: %w", wheel, f.Name, err)
		}
		if _, twice := files[f.Name]; twice {
			wrong = append(wrong, fmt.Errorf("%s is there twice", f.Name))
		}
		files[f.Name] = body
		if strings.HasPrefix(f.Name, "privrec/bin/") {
			runs = f.Name
			if f.Mode().Perm() != 0o755 {
				wrong = append(wrong, fmt.Errorf("%s has mode %v, want 0755", f.Name, f.Mode().Perm()))
			}
		}
	}
	parts := strings.Split(strings.TrimSuffix(filepath.Base(wheel), ".whl"), "-")
	if len(parts) != 5 {
		return fmt.Errorf("%s: want a name as privrec-0.1.0-py3-none-win_amd64.whl", wheel)
	}
	info := parts[0] + "-" + parts[1] + ".dist-info/"
	wrong = append(wrong, recorded(files, info+"RECORD")...)
	if !bytes.Contains(files[info+"METADATA"], []byte("\nVersion: "+parts[1]+"\n")) {
		wrong = append(wrong, fmt.Errorf("METADATA does not have version %s", parts[1]))
	}
	for tag := range strings.SplitSeq(parts[4], ".") {
		if !bytes.Contains(files[info+"WHEEL"], []byte("Tag: py3-none-"+tag+"\n")) {
			wrong = append(wrong, fmt.Errorf("WHEEL does not have tag %s", tag))
		}
	}
	if runs == "" {
		wrong = append(wrong, errors.New("it holds no program"))
	} else if binary != "" {
		b, err := os.ReadFile(binary)
		if err != nil {
			return err
		}
		if !bytes.Equal(b, files[runs]) {
			wrong = append(wrong, fmt.Errorf("%s is not %s", runs, binary))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	return nil
}

// recorded compares files with their entries in RECORD.
func recorded(files map[string][]byte, record string) (wrong []error) {
	lines, err := csv.NewReader(bytes.NewReader(files[record])).ReadAll()
	if err != nil {
		return []error{fmt.Errorf("RECORD: %w", err)}
	}
	var names []string
	for _, l := range lines {
		body, ok := files[l[0]]
		names = append(names, l[0])
		sum := sha256.Sum256(body)
		want := []string{l[0], "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(body))}
		if l[0] == record {
			want = []string{record, "", ""}
		}
		if !ok || !slices.Equal(l, want) {
			wrong = append(wrong, fmt.Errorf("RECORD says %q, want %q", l, want))
		}
	}
	for name := range files {
		if !slices.Contains(names, name) {
			wrong = append(wrong, fmt.Errorf("RECORD lacks %s", name))
		}
	}
	return wrong
}
