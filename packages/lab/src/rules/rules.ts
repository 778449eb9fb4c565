/**
 * How many of the rules that people gave an assistant are in the first request of the next conversation, and how much of what is there is
 * a rule. Generated chats go through `openConversation` with a real store; no model is asked for memories.
 *
 *     npm run rules                 the figures of docs/development/figures.md: sentences and seeds that nothing was chosen on
 *     npm run rules -- --chosen     the sentences on which the recogniser was chosen
 *     npm run rules -- --sentences  each sentence by itself, and those that are missed or wrong
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openConversation } from "@strata/core"
import { lastingRules } from "../../../core/src/views/record/lasting-rules.ts"
import { standingRules } from "../../../core/src/views/record/standing-rules.ts"
import { makeRuleChat, type Part, type RuleChat } from "./chats.ts"
import { CHOSEN } from "./chosen.ts"
import { HELD_OUT } from "./held-out.ts"
import { LANGUAGES, linesOf } from "./sentences.ts"

const CHATS = 12
const part: Part = process.argv.includes("--chosen") ? "chosen" : "held-out"
const FIRST_SEED = { chosen: 1, "held-out": 5_001 }[part]
const percent = (some: number, all: number) => `${((100 * some) / all).toFixed(1)}%`
/** A rule that shows the limit of one request is not a miss of the recogniser. */
const ROOM = 6_000 // tokens for what a conversation starts with

const options = (root: string) => ({
  ...{ model: "claude-opus-5-5", cwd: root, dir: join(root, "home"), env: {}, system: "You help." },
  memory: { owner: "a person" },
  settings: { figures: { "memory-start": ROOM, "background-share": 0 }, switches: { notes: false, dreaming: false } },
})

/** What the next conversation starts with. */
async function startAfter({ messages }: RuleChat): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "rules-"))
  try {
    const chat = await openConversation(options(root))
    for (const [at, { speaker, text }] of messages.entries()) {
      if (speaker === "user") await chat.add(text)
      else {
        await chat.prepare()
        await chat.record({ id: `msg_${at}`, content: [{ type: "text", text }], stop_reason: "end_turn" })
        await chat.settled()
      }
    }
    await chat.close()
    const next = await openConversation(options(root))
    await next.add("Hello")
    const start = JSON.stringify((await next.prepare()).messages)
    await next.close()
    return start
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const asSent = (text: string) => JSON.stringify(text.replace(/\s+/g, " ")).slice(1, -1)

async function measureChats(): Promise<void> {
  let [told, found, pinned] = [0, 0, 0]
  for (let at = 0; at < CHATS; at++) {
    const chat = makeRuleChat({ seed: FIRST_SEED + at, part })
    const start = await startAfter(chat)
    told += chat.rules.length
    found += chat.rules.filter((rule) => start.includes(asSent(rule))).length
    pinned += start.match(/\\n\d{1,2} [A-Z][a-z]{2,3}(?: \d{4})?: /g)?.length ?? 0
  }
  console.log(`${CHATS} chats, ${part}: ${told} rules, as many sentences that look like them, pasted text`)
  console.log(`  found ${percent(found, told)}; ${percent(found, pinned)} of the ${pinned} pinned lines are rules`)
}

function measureSentences(): void {
  const { rules, lookAlikes } = { chosen: CHOSEN, "held-out": HELD_OUT }[part]
  const sums = { found: 0, rules: 0, wrong: 0, others: 0, oldFound: 0, oldWrong: 0 }
  for (const language of LANGUAGES) {
    const own = linesOf(rules[language])
    const given = lookAlikes[language]
    const others = linesOf(typeof given === "string" ? given : Object.values(given).join("\n"))
    const isFound = (text: string) => lastingRules(text).length > 0
    for (const text of own) if (!isFound(text)) console.log(`  missed (${language}): ${text}`)
    for (const text of others) if (isFound(text)) console.log(`  wrong (${language}): ${text}`)
    sums.rules += own.length
    sums.others += others.length
    sums.found += own.filter(isFound).length
    sums.wrong += others.filter(isFound).length
    sums.oldFound += own.filter((text) => standingRules(text).length > 0).length
    sums.oldWrong += others.filter((text) => standingRules(text).length > 0).length
  }
  const { found, wrong, oldFound, oldWrong } = sums
  console.log(`${sums.rules} rules and ${sums.others} look-alikes in ${LANGUAGES.length} languages, ${part}`)
  console.log(`  lasting rules: found ${percent(found, sums.rules)}, true ${percent(found, found + wrong)}`)
  console.log(
    `  marker words alone: found ${percent(oldFound, sums.rules)}, true ${percent(oldFound, oldFound + oldWrong)}`,
  )
}

if (process.argv.includes("--sentences")) measureSentences()
else await measureChats()
