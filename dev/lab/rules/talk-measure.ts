/** Measures how many lasting statements of users are in the next conversation, and how much of the stored memories are such statements. */

import { factsAboutTheUser } from "../../../packages/core/src/views/record/about-the-user.ts"
import { lastingRules } from "../../../packages/core/src/views/record/lasting-rules.ts"
import { asSent, pinnedIn, startAfter } from "./next-conversation.ts"
import type { Part } from "./sentences.ts"
import { TALKS } from "./talk.ts"
import { makeTalkChat, STATEMENT_KINDS, spokenLines } from "./talk-chats.ts"

const CHATS = 12
const FIRST_SEED = { chosen: 101, "held-out": 6_001 }
const share = (some: number, all: number) => `${some} of ${all} (${((100 * some) / all).toFixed(1)}%)`

export async function measureTalk(part: Part): Promise<void> {
  const found = new Map(STATEMENT_KINDS.map((kind) => [kind, { stated: 0, found: 0 }]))
  let [pinned, isTrue, kept, junk] = [0, 0, 0, 0]
  for (let at = 0; at < CHATS; at++) {
    const { messages, stated } = makeTalkChat({ seed: FIRST_SEED[part] + at, part })
    const { start, stored: memories } = await startAfter(messages, { extracts: true })
    const lines = pinnedIn(start)
    for (const kind of STATEMENT_KINDS) {
      const sum = found.get(kind)!
      const where = kind === "places" ? memories : lines
      sum.stated += stated[kind].length
      sum.found += stated[kind].filter((words) =>
        where.some((text) => text.includes(kind === "places" ? words : asSent(words))),
      ).length
    }
    const forGood = STATEMENT_KINDS.flatMap((kind) => stated[kind])
    pinned += lines.length
    isTrue += lines.filter((line) => forGood.some((words) => line.includes(asSent(words)))).length
    kept += memories.length
    const wrong = memories.filter((text) => !forGood.some((words) => text.includes(words)))
    junk += wrong.length
    if (process.argv.includes("--show")) for (const text of wrong) console.log(`  junk: ${text}`)
  }
  console.log(`${CHATS} chats, ${part}, without a model`)
  for (const [kind, { stated, found: some }] of found) console.log(`  ${kind}: ${share(some, stated)}`)
  console.log(`  true among pinned lines: ${share(isTrue, pinned)}; junk among memories: ${share(junk, kept)}`)
}

/** Measures each message by itself. */
export function measureTalkSentences(part: Part): void {
  const talk = TALKS[part]
  for (const kind of ["preferences", "facts"] as const) {
    const find = kind === "facts" ? factsAboutTheUser : lastingRules
    const lines = spokenLines(talk[kind])
    const missed = lines.filter(({ text, kept }) => !find(text).some((words) => words.includes(kept)))
    for (const { text } of missed) console.log(`  missed (${kind}): ${text}`)
    console.log(`${kind}, ${part}: found ${share(lines.length - missed.length, lines.length)}`)
  }
  const others = [...spokenLines(talk.passing).map(({ text }) => text), ...talk.pasted, ...talk.places]
  const wrong = others.filter((text) => lastingRules(text).length + factsAboutTheUser(text).length > 0)
  for (const text of wrong) console.log(`  wrong: ${text}`)
  console.log(`others, ${part}: wrong ${share(wrong.length, others.length)}`)
}
