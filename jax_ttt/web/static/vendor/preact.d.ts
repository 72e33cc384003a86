// The types of preact.js that the page uses. Only the type checker reads this file.

type Child = VNode | string | number | boolean | null | undefined | Child[];
export interface VNode {
  type: unknown;
  props: Record<string, any>;
  key: any;
}
export interface Signal<T> {
  value: T;
}
export function html(strings: TemplateStringsArray, ...values: any[]): VNode;
export function render(child: Child, parent: Element): void;
export function useRef<T>(initial: T): { current: T };
export function useErrorBoundary(callback?: (error: any) => void): [any, () => void];
export function useState<S>(initial: S | (() => S)): [S, (next: S | ((now: S) => S)) => void];
export function useLayoutEffect(effect: () => void | (() => void), inputs: unknown[]): void;
export function signal<T>(value: T): Signal<T>;
export function computed<T>(compute: () => T): { readonly value: T };
export function effect(run: () => void | (() => void)): () => void;
export function batch<T>(run: () => T): T;
export function untracked<T>(run: () => T): T;
