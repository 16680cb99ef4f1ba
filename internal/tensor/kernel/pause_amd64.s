#include "textflag.h"

// func Pause(n int)
TEXT ·Pause(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX
	JMP  test

loop:
	PAUSE
	DECQ CX

test:
	CMPQ CX, $0
	JGT  loop
	RET
