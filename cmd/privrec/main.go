// Command privrec studies privacy in recommender systems; see its help.
package main

import (
	"os"

	"privrec/internal/cli"
)

func main() {
	code := cli.Main(os.Args[1:])
	os.Exit(code)
}
