/**
 * Measures how many of a user's rules are in the first request of the next conversation, and how much of the content there is a rule.
 * Generated chats go through `openConversation` with a real store; no model extracts memories.
 *
 *     npm run rules                 the figures of docs/development/figures.md: held-out sentences and seeds
 *     npm run rules -- --chosen     the sentences on which the recogniser was chosen
 *     npm run rules -- --sentences  each sentence by itself, with those that are missed or wrong
 *     npm run rules -- --talk       preferences, facts about the user and places too, between code, logs and passing remarks
 */
import { lastingRules } from "../../../packages/core/src/views/record/lasting-rules.ts"
import { standingRules } from "../../../packages/core/src/views/record/user-messages.ts"
import { makeRuleChat } from "./chats.ts"
import { asSent, pinnedIn, startAfter } from "./next-conversation.ts"
import { LANGUAGES, type Part, SENTENCES } from "./sentences.ts"
import { spokenLine } from "./talk.ts"
import { measureTalk, measureTalkSentences } from "./talk-measure.ts"

const CHATS = 12
const FIRST_SEED = { chosen: 1, "held-out": 5_001 }
const percent = (some: number, all: number) => `${((100 * some) / all).toFixed(1)}%`
async function measureChats(part: Part): Promise<void> {
  let [stated, found, pinned] = [0, 0, 0]
  for (let at = 0; at < CHATS; at++) {
    const chat = makeRuleChat({ seed: FIRST_SEED[part] + at, part })
    const { start } = await startAfter(chat.messages, { extracts: false })
    stated += chat.rules.length
    found += chat.rules.filter((rule) => start.includes(asSent(rule))).length
    pinned += pinnedIn(start).length
  }
  console.log(`${CHATS} chats, ${part}: ${stated} rules, as many sentences that look like them, pasted text`)
  console.log(`  found ${percent(found, stated)}; ${percent(found, pinned)} of the ${pinned} pinned lines are rules`)
}

function measureSentences(part: Part): void {
  const { rules, lookAlikes } = SENTENCES[part]
  const sums = { found: 0, rules: 0, wrong: 0, others: 0, oldFound: 0, oldWrong: 0 }
  for (const language of LANGUAGES) {
    const own = rules[language].map((line) => spokenLine(line).text)
    const given = lookAlikes[language]
    const others = "question" in given ? Object.values(given).flat() : given
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

const part: Part = process.argv.includes("--chosen") ? "chosen" : "held-out"
const isTalk = process.argv.includes("--talk")
if (process.argv.includes("--sentences")) (isTalk ? measureTalkSentences : measureSentences)(part)
else await (isTalk ? measureTalk : measureChats)(part)
