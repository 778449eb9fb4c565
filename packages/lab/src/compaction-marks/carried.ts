/** What `carry` leaves at the places where a recording was compacted. A later call gets what the one before left, and the messages since. */
import { type Carried, carry, type Message } from "@strata/core"
import type { RecordedCompaction } from "./recorded-compactions.ts"
import { textSent } from "./said.ts"

export interface CarriedText {
  readonly text: string
  readonly milliseconds: number
}

/** `isRecorded`: with the recorded summary in place of quotations. */
export async function carriedCompactions(
  compactions: readonly RecordedCompaction[],
  { isRecorded = false }: { readonly isRecorded?: boolean } = {},
): Promise<readonly CarriedText[]> {
  const texts: CarriedText[] = []
  let last: Carried<Message | { readonly role: "user"; readonly content: string }> | undefined
  for (const { since, summary = "" } of compactions) {
    const started = performance.now()
    last = await carry([...(last?.messages ?? []), ...since], {
      ...(isRecorded ? { summary } : {}),
      ...(last ? { before: last.state } : {}),
    })
    const milliseconds = performance.now() - started
    const text = last.messages.map((each) => ("uuid" in each ? textSent(each) : each.content))
    texts.push({ text: text.join("\n"), milliseconds })
  }
  return texts
}
