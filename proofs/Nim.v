(** * Nim, as an example of a game that the agent wins

    The rules, and the moves of a table that was trained by
    [python docs/examples/nim.py]. Each move takes objects, so all games end. *)

From Coq Require Import Arith List NArith.
From Proofs Require Import Rules Walk.
Import ListNotations.

(** A position is the objects in each heap, and who is to move. Move
    [heap * largest + number - 1] takes a number of objects from a heap. *)
Definition nim (heaps : list nat) : game (list nat * player) :=
  let largest := list_max heaps in
  {| start := (heaps, X);
     mover := snd;
     moves p := flat_map (fun heap => map (fun number => heap * largest + number - 1)
                                          (seq 1 (nth heap (fst p) 0)))
                         (seq 0 (length heaps));
     play p m := let heap := m / largest in
                 let rest := nth heap (fst p) 0 - (m mod largest + 1) in
                 (firstn heap (fst p) ++ rest :: skipn (S heap) (fst p), other (snd p));
     winner p := if list_sum (fst p) =? 0 then Some (other (snd p)) else None |}.

Definition heaps := [3; 4; 5].

(** The agent's move by the heaps, where it is to move. *)
Definition moves_of_agent : list (list nat * nat) :=
  [([3; 4; 5], 1); ([1; 4; 4], 0); ([1; 4; 3], 6); ([1; 4; 2], 5); ([1; 4; 1], 8);
   ([1; 4; 0], 7); ([1; 3; 5], 12); ([1; 3; 1], 7); ([1; 3; 0], 6); ([1; 2; 5], 11);
   ([1; 2; 2], 0); ([1; 2; 1], 6); ([1; 2; 0], 5); ([1; 1; 5], 14); ([1; 1; 3], 12);
   ([1; 1; 2], 11); ([1; 0; 5], 13); ([1; 0; 3], 11); ([1; 0; 2], 10); ([1; 0; 0], 0);
   ([0; 4; 5], 10); ([0; 4; 3], 5); ([0; 4; 2], 6); ([0; 4; 1], 7); ([0; 4; 0], 8);
   ([0; 3; 4], 10); ([0; 3; 2], 5); ([0; 3; 1], 6); ([0; 3; 0], 7); ([0; 2; 4], 11);
   ([0; 2; 3], 10); ([0; 2; 1], 5); ([0; 2; 0], 6); ([0; 1; 4], 12); ([0; 1; 3], 11);
   ([0; 1; 2], 10); ([0; 1; 0], 5); ([0; 0; 4], 13); ([0; 0; 3], 12); ([0; 0; 2], 11);
   ([0; 0; 1], 10)].

Definition same_heaps : forall one two : list nat, {one = two} + {one <> two} :=
  list_eq_dec Nat.eq_dec.

Definition same_position : forall one two : list nat * player, {one = two} + {one <> two}.
Proof. repeat decide equality. Defined.

(** Move 15 is never legal. *)
Definition agent (p : list nat * player) : nat :=
  match find (fun row => if same_heaps (fst row) (fst p) then true else false)
             moves_of_agent with
  | Some row => snd row
  | None => 15
  end.

Theorem wins_every_game_as_X : wins_every_game (nim heaps) X agent.
Proof.
  apply (walk_wins_every_game _ _ _ (nodup same_position))
    with (num_moves := 13) (number := 54%N).
  - intros p l. apply nodup_In.
  - vm_compute. reflexivity.
Qed.
Check wins_every_game_as_X.
Print Assumptions wins_every_game_as_X.
