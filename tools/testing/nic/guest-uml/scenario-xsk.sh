# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# An AF_XDP socket asks for stamps while its pool is taken away, 1000 times.

mark
hwstamp_ctl -i "$NEAR" -t 1 >/dev/null
# Longer than the socket lives in the rounds that do not wait for it.
knob stamp_delay_us 3000
if ! out=$("$TOOLS/txts-xsk" flood "$NEAR" 0 1000 2>&1); then
	not_ok xsk "$out"
else
	frames=$(did tx_frames)
	say "info xsk: $out, of $frames frames and $(did stamp_asked) that the device saw," \
		"$(saw delivered) delivered, $(saw flushed) flushed"
	read -r _ sent _ completed _ stamped <<<"$out"
	check xsk-sent "the device sent $frames frames of $sent" \
		test "$frames" -ge "$sent"
	check xsk-asked 'the device saw other requests than the tracker' \
		same "$(did stamp_asked)" "$(saw requested)"
	check xsk-completed 'fewer than 8 in 10 of the frames waited for' \
		test "$completed" -ge 3200
	check xsk-stamped 'none was stamped' test "$stamped" -gt 0
	check xsk-flushed 'no request was in flight when its pool went' \
		test "$(saw flushed)" -gt 0
	check xsk-quiet 'stamps were delivered after their pool had gone' \
		test "$(saw delivered)" = "$stamped"
fi
knob stamp_delay_us 0
check xsk-end 'a request did not end in 10 s' wait_for idle
check xsk-misuse 'the driver broke a rule of the tracker' \
	test "$(txts_count misuse)" = 0
check xsk-reach 'the port is dead afterwards' wait_for reaches
say 'done xsk'
