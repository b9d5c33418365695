(* Where merging the SMs is not exact: two kernels whose blocks are unequal, by computation. *)
From Coq Require Import List.
Import ListNotations.
From gpusched Require Import model executable follows pooled.

(* [n] SMs of [threads] threads, two streams without priorities that N1 and N2 do not concern, beside the NULL stream.
   *)
Definition gpu (n threads : nat) : device :=
  Device (repeat (Res threads threads 0 0) n) 0 1 [Stream 0 true; Stream 0 false; Stream 0 false].
(* Two blocks of one thread each, and one block of two; each runs for 1 ns. *)
Definition narrow : operation := Op 0 1 0 (Kernel 2 (Res 1 1 0 0) (Range 1 1)).
Definition wide : operation := Op 1 2 0 (Kernel 1 (Res 2 1 0 0) (Range 1 1)).
Definition beginning : list label := [HostsTurn; Launch narrow; GoOn narrow; Launch wide; GoOn wide; DispatchTurn].

Definition side_by_side : list label :=
  beginning ++ [Assign narrow 0 1; Assign narrow 1 1; Until 1; End narrow (Sm 0); End narrow (Sm 1); HostsTurn;
                DispatchTurn; Assign wide 0 1].
Definition together (sm : nat) : list label := beginning ++ [Assign narrow 0 1; Assign narrow 0 1; Assign wide sm 1].

(* On two SMs of two threads the wide block waits if the narrow ones are on different SMs; on one SM of four threads,
   and
   with both narrow blocks on one of two, it does not. *)
Theorem unequal_blocks_are_not_exact :
  (exists t, steps (gpu 2 2) (empty (gpu 2 2)) side_by_side t) /\
  (exists t, steps (gpu 2 2) (empty (gpu 2 2)) (together 1) t) /\
  (exists t, steps (gpu 1 4) (empty (gpu 1 4)) (together 0) t) /\
  map start (assigned 0 side_by_side) = [0; 0; 1] /\
  map start (assigned 0 (together 1)) = [0; 0; 0] /\ map start (assigned 0 (together 0)) = [0; 0; 0].
Proof.
  split; [|split; [|split; [|repeat split]]];
    (eexists; eapply accepted_runs_follow_the_rules; vm_compute; reflexivity).
Qed.
