/** Exchanges of the conversation: one for each fact, and other work in between with different names. */
import type { PlantedFact } from "./facts.ts"

/** One exchange: the user's message, the answer's blocks, the result of its call, and the final answer. */
export interface Exchange {
  readonly asks: readonly object[]
  readonly answers: readonly object[]
  readonly result?: { readonly content: string; readonly isError?: boolean }
  readonly ends: string
}

const LONG_RESULT = 90_000 // in characters, more than offloading leaves in the context

const text = (words: string) => ({ type: "text", text: words })

export function exchangeOf(fact: PlantedFact): Exchange {
  const { subject, sentence, id } = fact
  const plain = (asks: string, ends: string): Exchange => ({ asks: [text(asks)], answers: [], ends })
  const withCall = (call: Call): Exchange => ({
    asks: [text(`Look at what ${owner(fact)} needs next.`)],
    answers: [{ type: "tool_use", id: `toolu_${id}`, name: call.tool, input: call.input }],
    result: { content: call.result, ...(call.isError ? { isError: true } : {}) },
    ends: `That is what I wanted to know about ${owner(fact)}.`,
  })
  switch (fact.kind) {
    case "typed":
      return plain(`For later: ${sentence}. Go on.`, "Understood.")
    case "said":
      return plain(`What did you find about ${owner(fact)}?`, `I worked out that ${sentence}.`)
    case "thought":
      return {
        asks: [text(`Think about ${owner(fact)}.`)],
        answers: [{ type: "thinking", thinking: `From the pieces it follows that ${sentence}.`, signature: SIGNATURE }],
        ends: "I have thought about it.",
      }
    case "image":
      return {
        asks: [text(`This screenshot shows the ${subject}.`), imageOf(fact)],
        answers: [],
        ends: "I see it.",
      }
    case "input":
      return withCall({
        tool: "Write",
        input: { file_path: `/work/notes/${id}.md`, content: `# ${id}\n\nDecided: ${sentence}.\n` },
        result: "File written.",
      })
    case "read":
      return withCall({
        tool: "Read",
        input: { file_path: `/work/src/part-${id}.ts` },
        result: lines(60, id, `// ${sentence}`),
      })
    case "shell":
      return withCall({
        tool: "Bash",
        input: { command: `./inspect.sh ${id}` },
        result: lines(80, id, `inspect: ${sentence}`),
      })
    case "grep":
      return withCall({
        tool: "Grep",
        input: { pattern: subject.split(" ")[0], path: "/work" },
        result: lines(40, id, `docs/${id}.md:12: ${sentence}`),
      })
    case "error":
      return withCall({
        tool: "Bash",
        input: { command: `./deploy.sh ${id}` },
        result: `${lines(12, id, "deploying")}\nError: refused, because ${sentence}\nexit code 3`,
        isError: true,
      })
    case "long":
      return withCall({
        tool: "Bash",
        input: { command: `./audit.sh --all ${owner(fact)}` },
        result: lines(LONG_RESULT / 62, id, `audit: ${sentence}`),
      })
    case "web":
      return withCall({
        tool: "WebFetch",
        input: { url: `https://docs.example.org/${id}`, prompt: "What does it say?" },
        result: `${lines(20, id, `The page says: ${sentence}.`)}`,
      })
    case "answer":
      return withCall({
        tool: "AskUser",
        input: { question: `What is the ${subject}?` },
        result: `The person answers: ${sentence}.`,
      })
  }
}

interface Call {
  readonly tool: string
  readonly input: object
  readonly result: string
  readonly isError?: boolean
}

const SIGNATURE = "c2lnbmF0dXJl"
const owner = ({ subject }: PlantedFact) => `the ${subject.slice(subject.indexOf(" of the ") + 8)}`

/** Generated lines of a tool with a fact in the middle. */
function lines(count: number, id: string, fact: string): string {
  const seed = [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7)
  const all = Array.from({ length: Math.floor(count) }, (_, at) => lineAt(seed + at * 97))
  all.splice(Math.floor(all.length / 2), 0, fact)
  return all.join("\n")
}

const WORDS = "stream buffer packet widget record vector bundle socket thread anchor".split(" ")
const word = (at: number) => WORDS[at % WORDS.length]!
const lineAt = (at: number) =>
  `${word(at)} ${word(at >> 3)} handled by ${word(at >> 1)}${cap(word(at >> 2))}${(at >> 4) % 50} in ${at % 700} ms`
const cap = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** Work unrelated to the facts, with other names, hashes and numbers. */
export function otherWork(round: number): Exchange {
  const id = `other-${round}`
  const read = round % 2 === 0
  const hash = (round * 40_503 + 0x1a2b3c4).toString(16).slice(-7)
  return {
    asks: [text(`Next is task ${round}: improve the ${word(round)} ${word(round + 3)}.`)],
    answers: [
      text(`I start with ${word(round)}${cap(word(round + 1))}${round}.`),
      {
        type: "tool_use",
        id: `toolu_${id}`,
        name: read ? "Read" : "Bash",
        input: read ? { file_path: `/work/src/${word(round)}-${round}.ts` } : { command: `npm run check-${round}` },
      },
    ],
    result: { content: lines(60, id, `commit ${hash} touched ${word(round)}Store${round} in ${300 + round} places`) },
    ends: `Task ${round} is done in ${hash}.`,
  }
}

/** The smallest possible PNG picture. The fact's id is appended to it. */
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export function pictureOf({ id }: PlantedFact): string {
  return Buffer.concat([Buffer.from(PICTURE, "base64"), Buffer.from(id.padEnd(12, "."))]).toString("base64")
}

const imageOf = (fact: PlantedFact) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: pictureOf(fact) },
})
