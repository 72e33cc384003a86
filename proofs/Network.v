(** * A network of integers, and the move that it prefers

    All sums are exact. An activation is a sum divided by a power of two, rounded to the
    nearest integer (halves to the even one), and limited to 0 to 127. *)

From Coq Require Import Arith.
From Coq Require Export ZArith.
From Proofs Require Export Boards.
Global Open Scope Z_scope.

(** An output has a weight for each input, a bias, and its power of two. *)
Record output := Output { weights : list Z; bias : Z; shift : Z }.

(** Hidden layers, from the first to the last, and the layer after them, whose first sums
    are the scores of the actions; there may be more, which are not used in play. A cell
    has one input, 1 for the mover's stone and -1 for the opponent's; or two, of 0 and 1. *)
Record network := Network { two_planes : bool; hidden : list (list output); last : list output }.

Definition weighted_sum (inputs : list Z) (o : output) : Z :=
  fold_left (fun sum '(weight, input) => sum + weight * input)
            (combine o.(weights) inputs) o.(bias).

(** [number / 2 ^ shift], to the nearest integer. *)
Definition rounded (number shift : Z) : Z :=
  let unit := 2 ^ shift in
  let below := number / unit in
  match 2 * (number - below * unit) ?= unit with
  | Lt => below
  | Eq => if Z.even below then below else below + 1
  | Gt => below + 1
  end.

Definition activation (inputs : list Z) (o : output) : Z :=
  let sum := weighted_sum inputs o in
  if sum <? 0 then 0 else Z.min 127 (rounded sum o.(shift)).

Definition scores (net : network) (inputs : list Z) : list Z :=
  let activations := fold_left (fun inputs layer => map (activation inputs) layer)
                               net.(hidden) inputs in
  map (weighted_sum activations) net.(last).

Definition inputs_of (net : network) (mover : player) (b : board) : list Z :=
  flat_map
    (fun c =>
       let mine := if is_stone mover c then 1 else 0 in
       let yours := if is_stone (other mover) c then 1 else 0 in
       if net.(two_planes) then [mine; yours] else [mine - yours])
    b.

(** ** The view of the board that the network sees *)

(** A board may be turned and reflected. Cell [i] of a view is cell [cells i] of the board,
    and action [a] is its action [actions a]. *)
Local Open Scope nat_scope.

Record view := { cells : list nat; actions : list nat }.

Definition views (s : shape) : list view :=
  let last_x := s.(width) - 1 in
  let last_y := s.(height) - 1 in
  let maps := if s.(falls)
    then [fun x y => (x, y); fun x y => (last_x - x, y)]
    else [fun x y => (x, y); fun x y => (last_x - x, y);
          fun x y => (x, last_y - y); fun x y => (last_x - x, last_y - y);
          fun x y => (y, x); fun x y => (last_y - y, x);
          fun x y => (y, last_x - x); fun x y => (last_y - y, last_x - x)] in
  map
    (fun place =>
       let moved := flat_map (fun y => map (fun x => place x y) (seq 0 s.(width)))
                             (seq 0 s.(height)) in
       let cells := map (fun '(x, y) => y * s.(width) + x) moved in
       {| cells := cells;
          actions := if s.(falls) then map fst (firstn s.(width) moved) else cells |})
    maps.

Definition seen (b : board) (v : view) : board := map (fun i => nth i b Free) v.(cells).

(** The network sees the view with the least key: its cells are digits, the last cell the
    highest one. *)
Definition key (mover : player) (b : board) : Z :=
  fold_right
    (fun c higher =>
       3 * higher + (if is_free c then 1 else if is_stone mover c then 2 else 0))%Z
    0%Z b.

Definition least_views (all : list view) (mover : player) (b : board) : list view :=
  let keyed := map (fun v => (key mover (seen b v), v)) all in
  let least := fold_right Z.min (3 ^ Z.of_nat (length b))%Z (map fst keyed) in
  map snd (filter (fun '(k, _) => (k =? least)%Z) keyed).

(** ** The move *)

Fixpoint index (x : nat) (l : list nat) : nat :=
  match l with [] => 0 | y :: rest => if x =? y then 0 else S (index x rest) end.

(** The first of the actions with the highest score. *)
Fixpoint best (scored : list (Z * nat)) : Z * nat :=
  match scored with
  | [] => (0%Z, 0)
  | [one] => one
  | first :: rest => let other := best rest in if (fst first <? fst other)%Z then other else first
  end.

(** An action has the score of the action that it is in the view. On a board that is its own
    image, actions that are images of each other are the least of them. Of equal ones, the
    first is played: in Connect Four in the view, else on the board. *)
Definition preferred (s : shape) (net : network) (scores_of : list Z -> list Z) :
    board -> nat :=
  let legal_moves := (stones_in_a_row s).(moves) in
  let all_views := views s in
  fun b =>
    let mover := mover_of b in
    let least := least_views all_views mover b in
    let canonical := match least with v :: _ => seen b v | [] => b end in
    let scores := scores_of (inputs_of net mover canonical) in
    let in_view action :=
      fold_right Nat.min (length b) (map (fun v => index action v.(actions)) least) in
    let in_order :=
      if s.(falls)
      then flat_map (fun place => filter (fun a => in_view a =? place) (legal_moves b))
                    (seq 0 s.(width))
      else legal_moves b in
    snd (best (map (fun a => (nth (in_view a) scores 0%Z, a)) in_order)).

(** The agent's move: the correction of the board, else the one that the network prefers. *)
Definition move_by (scores_of : list Z -> list Z) (s : shape) (corrections : tree)
    (net : network) : board -> nat :=
  let network_move := preferred s net scores_of in
  fun b => match find_board b corrections with
           | Some move => move
           | None => network_move b
           end.

Definition agent_move (s : shape) (corrections : tree) (net : network) : board -> nat :=
  move_by (scores net) s corrections net.
