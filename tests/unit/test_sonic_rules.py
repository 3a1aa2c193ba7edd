"""The pure rules of the diffusion animator: windows, frame times, sizes, memory."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from engine.animators.sonic.frame_times import halvings, keyframes_needed, place_frame
from engine.animators.sonic.memory import DECODINGS, MODES, next_smaller, plan_memory
from engine.animators.sonic.picture import crop_square, face_mask, grid_size, pad_picture
from engine.animators.sonic.pieces import (
    HEARD_AT_ONCE,
    Piece,
    at_keyframes,
    keyframes_in,
    plan_pieces,
)
from engine.animators.sonic.schedule import WindowPlan, karras_schedule

FPS = [Fraction(fps) for fps in (24, 25, 30, 50, 60)]


class TestWindows:
    def test_every_frame_is_in_a_window_at_every_step(self):
        for num_frames in (1, 3, 24, 25, 26, 50, 61):
            plan = WindowPlan()
            for step in range(5):
                windows = plan.frames(step, num_frames)
                assert {frame for window in windows for frame in window} == set(range(num_frames))
                assert all(len(window) == plan.length for window in windows)

    def test_windows_move_back_by_the_shift(self):
        plan = WindowPlan(length=5, overlap=0, shift=2)

        assert plan.frames(0, 11)[0] == [0, 1, 2, 3, 4]
        assert plan.frames(1, 11)[0] == [9, 10, 0, 1, 2]

    def test_overlap_takes_more_windows(self):
        plan = WindowPlan(length=7, overlap=2, shift=0)

        assert plan.count(10) == 2
        assert plan.frames(0, 10)[1][:2] == [5, 6]

    def test_one_step_goes_from_the_strongest_noise_to_none(self):
        assert karras_schedule(1).sigmas == (700.0, 0.0)


class TestFrameTimes:
    @pytest.mark.parametrize("fps", FPS, ids=str)
    def test_no_frame_is_more_than_five_milliseconds_off(self, fps):
        for index in range(600):
            before, way = place_frame(index, fps)
            off_s = abs((before + way) / Fraction(25, 2) - index / fps)
            assert off_s <= Fraction(5, 1000)
            assert 0 <= way < 1

    def test_twenty_five_and_fifty_are_exact(self):
        assert [halvings(fps) for fps in FPS] == [3, 1, 3, 2, 3]
        assert place_frame(3, Fraction(25)) == (1, Fraction(1, 2))
        assert place_frame(3, Fraction(50)) == (0, Fraction(3, 4))

    @pytest.mark.parametrize("fps", FPS, ids=str)
    def test_keyframes_reach_the_last_frame_or_save_a_window(self, fps):
        windows = WindowPlan(length=1)  # no clip is too short for it
        tens = WindowPlan(length=10)
        for num_frames in range(1, 200):
            before, way = place_frame(num_frames - 1, fps)
            reached = keyframes_needed(num_frames, fps, windows)
            assert reached == before + 1
            reached = keyframes_needed(num_frames, fps, tens)
            if before + 1 < 10 or (before + 1) % 10 == 0:
                assert reached == max(before + 1, 10)
            else:
                assert reached - 2 < before + way <= reached - 1

    def test_the_last_frames_hold_the_last_keyframe_for_less_than_a_keyframe(self):
        for fps in FPS:
            for num_frames in range(1, 400):
                reached = keyframes_needed(num_frames, fps, WindowPlan(length=1))
                late_s = (num_frames - 1) / fps - (reached - 1) / Fraction(25, 2)
                assert late_s < Fraction(80, 1000)

    def test_whole_seconds_take_no_window_for_half_a_frame(self):
        plan = WindowPlan()
        for seconds in (2, 4, 10, 30):
            keyframes = keyframes_needed(25 * seconds, Fraction(25), plan)
            assert keyframes == 25 * seconds / 2
            assert plan.count(keyframes) == seconds / 2

    def test_a_short_clip_fills_one_window(self):
        assert keyframes_needed(3, Fraction(25), WindowPlan()) == 25


class TestPicture:
    def test_padding_reaches_the_grid_and_is_cut_off_again(self):
        pixels = np.random.default_rng(0).integers(0, 256, (300, 410, 3), dtype=np.uint8)

        picture, margins = pad_picture(pixels, (100.0, 50.0, 80.0, 90.0))

        assert picture.pixels.shape == (320, 448, 3)
        assert np.array_equal(margins.cut(picture.pixels), pixels)
        mask = margins.cut(np.repeat(picture.mask[..., None], 3, axis=2))[..., 0]
        assert np.array_equal(mask, face_mask((100.0, 50.0, 80.0, 90.0), 410, 300))

    def test_a_picture_on_the_grid_is_left_alone(self):
        pixels = np.zeros((512, 512, 3), dtype=np.uint8)

        picture, margins = pad_picture(pixels, (100.0, 100.0, 200.0, 200.0))

        assert picture.pixels is pixels or np.array_equal(picture.pixels, pixels)
        assert margins.cut(pixels).shape == pixels.shape

    def test_sizes_are_never_zero(self):
        assert grid_size(1000, 10, 16) == (1600 // 64 * 64, 64)

    def test_a_crop_stays_inside_the_picture(self):
        rng = np.random.default_rng(1)
        for _ in range(200):
            x, y = rng.uniform(0, 500), rng.uniform(0, 300)
            box = (x, y, rng.uniform(5, 640 - x), rng.uniform(5, 480 - y))
            x1, y1, x2, y2 = crop_square(box, 640, 480, rng.uniform(0, 1))
            assert 0 <= x1 < x2 <= 640
            assert 0 <= y1 < y2 <= 480
            assert abs((x2 - x1) - (y2 - y1)) <= 1

    def test_a_face_outside_the_picture_gives_an_empty_mask(self):
        assert not face_mask((200.0, 10.0, 30.0, 30.0), 100, 100).any()


class TestMemory:
    def test_more_memory_never_takes_a_slower_mode(self):
        for size in (512, 768, 1024):
            plans = [
                plan_memory(size, size, 8, gb * 1024.0, on_card=True)
                for gb in (4, 6, 8, 12, 24, 80)
            ]
            ranks = [MODES.index(plan.mode) for plan in plans]
            assert ranks == sorted(ranks, reverse=True)
            assert [plan.decode_chunk for plan in plans] == sorted(
                plan.decode_chunk for plan in plans
            )
            assert all(
                plan.device_mb <= gb * 1024
                for plan, gb in zip(plans, (4, 6, 8, 12, 24, 80), strict=True)
                if plan.fits
            )

    def test_a_large_card_runs_everything_at_once(self):
        plan = plan_memory(1024, 1024, 8, 80 * 1024.0, on_card=True)

        assert (plan.mode, plan.decode_chunk, plan.fits) == (MODES[0], 8, True)

    def test_eight_gigabytes_are_enough_for_1024_pixels(self):
        plan = plan_memory(1024, 1024, 8, 7.6 * 1024, on_card=True)

        assert plan.fits
        assert plan.device_mb < 7.2 * 1024

    def test_four_gigabytes_are_enough_where_weights_stay_in_main_memory(self):
        plan = plan_memory(1024, 1024, 8, 4.0 * 1024, on_card=True)

        assert plan.fits
        assert plan.mode.is_streamed
        assert plan.decode_chunk < 8

    def test_two_gigabytes_are_said_to_be_too_few(self):
        assert not plan_memory(512, 512, 8, 2.0 * 1024, on_card=True).fits

    def test_nothing_is_streamed_where_there_is_no_card(self):
        assert not plan_memory(512, 512, 8, None, on_card=False).mode.is_streamed

    def test_unknown_memory_takes_the_smallest_way(self):
        plan = plan_memory(512, 512, 8, None, on_card=True)

        assert (plan.mode, plan.decode_chunk) == (MODES[-1], 1)

    def test_eight_gigabytes_decode_exactly(self):
        plan = plan_memory(1024, 1024, 8, 8 * 1024.0, on_card=True)

        assert (plan.decode_chunk, plan.fits) == (8, True)

    def test_decoding_gets_slow_before_it_gets_different(self):
        plan = plan_memory(1024, 1024, 8, 10 * 1024.0, on_card=True)

        assert (plan.decode_chunk, plan.decode_sizes) == (8, DECODINGS[-1])

    def test_a_wish_for_a_small_chunk_is_kept(self):
        assert plan_memory(512, 512, 3, 80 * 1024.0, on_card=True).decode_chunk == 3

    def test_the_ladder_has_an_end(self):
        assert [next_smaller(mode) for mode in MODES] == [*MODES[1:], None]


class TestPieces:
    LONGEST, SHORTEST = 250, 25

    @staticmethod
    def speech(num_keyframes, pauses=()):
        loudness = np.random.default_rng(1).uniform(0.5, 1, num_keyframes).astype(np.float32)
        for pause in pauses:
            loudness[pause - 2 : pause + 3] = 0
        return loudness

    @pytest.mark.parametrize("total", [376, 400, 625, 1000, 5000])
    @pytest.mark.parametrize("longest", [62, 250, 375])
    def test_pieces_are_the_clip_and_are_heard_at_once(self, total, longest):
        pieces = plan_pieces(self.speech(total), longest, self.SHORTEST)

        assert pieces[0].start == 0
        assert pieces[-1].end == total
        for piece, following in itertools.pairwise(pieces):
            assert piece.end == following.start
        for piece in pieces:
            assert self.SHORTEST <= piece.end - piece.start <= longest
            assert piece.num_keyframes + piece.tail <= HEARD_AT_ONCE

    def test_a_clip_of_thirty_seconds_stays_whole(self):
        assert plan_pieces(self.speech(375), 375, 25) == (Piece(0, 375),)

    def test_cuts_lie_in_pauses(self):
        pieces = plan_pieces(self.speech(600, pauses=(80, 190, 400)), 250, 25)

        assert [piece.start for piece in pieces] == pytest.approx([0, 190, 400], abs=1)

    def test_pieces_share_a_second_with_their_neighbours(self):
        pieces = plan_pieces(self.speech(600), 250, 25)

        assert [piece.lead for piece in pieces] == [0, 12, 12]
        assert [piece.tail for piece in pieces] == [12, 12, 0]

    @pytest.mark.parametrize("seconds", [5, 7, 12, 30])
    def test_speech_of_the_longest_piece_stays_whole(self, seconds):
        plan = WindowPlan()
        keyframes = keyframes_needed(25 * seconds, Fraction(25), plan)

        pieces = plan_pieces(self.speech(keyframes), keyframes_in(seconds), plan.length)

        assert len(pieces) == 1

    def test_loudness_of_frames_is_found_at_their_keyframes(self):
        frames = np.array([0, 0.2, 0.9, 0, 0, 0.4], np.float32)

        at = at_keyframes(frames, Fraction(25), 5)

        assert at.tolist() == pytest.approx([0.2, 0.9, 0.4, 0, 0])
