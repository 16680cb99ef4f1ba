#include "textflag.h"

// func Pause(n int)
TEXT ·Pause(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), CX

loop:
	PAUSE
	DECQ CX
	JNZ  loop
	RET
