/**
 * The steps of a random history: actions of a user, a model, a refusing server and a dying process on a conversation. They refer to things
 * by number, so every shortened history is still valid.
 */
import fc from "fast-check"

export type Step =
  | { readonly kind: "say" | "enqueue"; readonly text: number; readonly length: number }
  | { readonly kind: "answer"; readonly calls: number; readonly thinks: boolean; readonly usage: number }
  | { readonly kind: "results"; readonly length: number; readonly all: boolean }
  /** `less`: clears only this many tokens, which is often one result. */
  | { readonly kind: "clear"; readonly downTo: number; readonly less?: number }
  | { readonly kind: "fold" | "snip"; readonly from: number; readonly to: number }
  | { readonly kind: "fold-down"; readonly downTo: number }
  | { readonly kind: "unfold"; readonly which: number }
  | { readonly kind: "undo"; readonly which: number; readonly isNewest: boolean; readonly keepLater: boolean }
  | { readonly kind: "compact"; readonly thenUndo: boolean }
  | { readonly kind: "rewind"; readonly to: number; readonly isInView: boolean }
  | { readonly kind: "refused"; readonly after: "nothing" | "overflow" | "received" }
  | { readonly kind: "wait" | "reopen" }
  | { readonly kind: "kill"; readonly lost: number }

const kindOf = <K extends Step["kind"]>(...kinds: readonly K[]) => fc.constantFrom(...kinds)
const downTo = fc.constantFrom(0, 500, 2_000, 6_000)
const length = fc.constantFrom(5, 40, 400, 4_000)
const place = fc.nat(40)
const clear: fc.Arbitrary<Step> = fc.record({ kind: kindOf("clear"), downTo })
const clearOne = fc.constant<Step>({ kind: "clear", downTo: 0, less: 1 })
const range: fc.Arbitrary<Step> = fc.record({ kind: kindOf("fold", "fold", "snip"), from: place, to: place })
const undo: fc.Arbitrary<Step> = fc.record({
  kind: kindOf("undo"),
  which: fc.nat(9),
  isNewest: fc.nat(3).map((n) => n > 0),
  keepLater: fc.boolean(),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: kindOf("say", "say", "say", "enqueue"), text: fc.nat(7), length }) },
  {
    weight: 7,
    arbitrary: fc.record({ kind: kindOf("answer"), calls: fc.nat(3), thinks: fc.boolean(), usage: fc.nat(9_000) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: kindOf("results"), length, all: fc.boolean() }) },
  { weight: 2, arbitrary: clear },
  { weight: 1, arbitrary: clearOne },
  { weight: 3, arbitrary: range },
  { weight: 1, arbitrary: fc.record({ kind: kindOf("fold-down"), downTo }) },
  { weight: 1, arbitrary: fc.record({ kind: kindOf("unfold"), which: fc.nat(5) }) },
  { weight: 4, arbitrary: undo },
  { weight: 3, arbitrary: fc.record({ kind: kindOf("compact"), thenUndo: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: kindOf("rewind"), to: fc.nat(200), isInView: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kindOf("refused"),
      after: fc.constantFrom("nothing", "overflow", "received") as fc.Arbitrary<"nothing">,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kindOf("wait", "reopen") }) },
  { weight: 1, arbitrary: fc.record({ kind: kindOf("kill"), lost: fc.nat(3_000) }) },
)

/** A user who changes what is sent, and reverts it. */
const byHand: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: clearOne },
  { weight: 1, arbitrary: clear },
  { weight: 4, arbitrary: range },
  { weight: 4, arbitrary: undo },
  { weight: 1, arbitrary: step },
)

/** An exchange with calls, so that there is something to clear and to fold. */
const exchange = fc
  .record({ text: fc.nat(7), words: length, calls: fc.integer({ min: 1, max: 2 }), lines: length })
  .map(({ text, words, calls, lines }): readonly Step[] => [
    { kind: "say", text, length: words },
    { kind: "answer", calls, thinks: false, usage: 0 },
    { kind: "results", length: lines, all: true },
    { kind: "answer", calls: 0, thinks: false, usage: 0 },
  ])

export interface CheckedStep {
  readonly step: Step
  /** Whether a request is prepared after the step, here and in another process. */
  readonly isChecked: boolean
}

const several = (of: fc.Arbitrary<Step>): fc.Arbitrary<readonly CheckedStep[]> =>
  fc.array(fc.record({ step: of, isChecked: fc.boolean() }), { minLength: 4, maxLength: 20 })

/** Histories that begin with a user message. */
export const histories: fc.Arbitrary<readonly CheckedStep[]> = fc
  .record({
    begun: fc.array(exchange, { maxLength: 6 }),
    steps: fc.oneof(several(step), several(byHand)),
  })
  .map(({ begun, steps }) => [
    { step: { kind: "say", text: 0, length: 40 }, isChecked: false },
    ...begun.flat().map((each) => ({ step: each, isChecked: false })),
    ...steps.slice(0, -1),
    ...steps.slice(-1).map((last) => ({ ...last, isChecked: true })),
  ])
