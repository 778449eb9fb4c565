/**
 * Programs that store their message list in a file, shared by several frameworks. The framework's own code comes first and defines:
 *
 * - `agentOf(name, more)`: an agent. `THINKING` and `SHAPED` are values of `more`: the agent thinks, or returns an object with `seen`.
 * - `ask(agent, list, { stream, signal, onResult })`: resolves with the list after the answer, and the answer. Calls `onResult` when
 *   a result of a tool was seen, in the middle of the answer where the framework allows it.
 */
import { type AdaptedCase, PROGRAM_START, RESTARTED } from "./framework.ts"

const START = `import { existsSync, readFileSync, writeFileSync } from "node:fs"
${PROGRAM_START}
/** The conversation's messages so far. */
const listOf = ({ name }) => (existsSync(name + ".json") ? JSON.parse(readFileSync(name + ".json", "utf8")) : [])
async function say(agent, words, { stream = false } = {}) {
  const { list, answer } = await ask(agent, [...listOf(agent), { role: "user", content: words }], { stream })
  check("the list", JSON.stringify(list))
  writeFileSync(agent.name + ".json", JSON.stringify(list))
  return answer
}
`

/** Six tasks of ten parts fill three windows. After the third task the program ends, and another process continues with the list. */
const long = (stream: boolean, more: string) => `const agent = agentOf("long", ${more})
for (const at of process.argv[2] === "2" ? [4, 5, 6] : [1, 2, 3])
  console.log(await say(agent, (at === 1 ? FACT : "") + task("t" + at, 10), { stream: ${stream} }))
`

const OTHERS = `const agent = agentOf("one")
await say(agent, FACT + task("p0", 2))
console.log("at once:", await say(agent, task("p1", 4, " at once")))

const shaped = agentOf("two", SHAPED)
for (const [at, stream] of [false, true].entries())
  console.log("ANSWER[" + typeof (await say(shaped, FACT + task("s" + at, 3), { stream }))?.seen + "]")

// the list is so short that Strata sends no request of its own, which could take the failure in place of the program's
const brief = agentOf("brief")
await failing(() => say(brief, FACT + task("e1", 2, " then fail")))
console.log("after a refusal:", await say(brief, FACT + task("e2", 1)))
await failing(() => say(brief, task("e3", 2, " then break"), { stream: true }))
console.log("after a break:", await say(brief, task("e4", 1), { stream: true }))

const stop = new AbortController()
const list = [...listOf(agent), { role: "user", content: task("a1", 4) }]
await ask(agent, list, { stream: true, signal: stop.signal, onResult: () => stop.abort() })
  .catch((error) => console.log("ANSWER[" + error.constructor.name + "]"))
console.log("after an abort:", await say(agent, task("a2", 2)))

const both = await Promise.all(["left", "right"].map((name, at) => say(agentOf(name), FACT + task("b" + at, 3 + at))))
console.log("two at once:", both.join(" ").replaceAll(/last \\w+/g, "last"))

console.log("recalled:", await say(agent, task("r1", 2, " with recall")))
console.log("recalled:", await say(agent, task("r2", 2, " with recall"), { stream: true }))
`

export interface ListedCaseOptions {
  /** The import statements alone. */
  readonly imports: string
  readonly framework: string
  /** JavaScript of further checks. */
  readonly others?: string
  /** JavaScript for an agent that sets cache breakpoints itself. */
  readonly breakpoints?: string
}

export function listedCases({
  imports,
  framework,
  others = "",
  breakpoints,
}: ListedCaseOptions): readonly AdaptedCase[] {
  const program = (body: string) => `${imports}${START}${framework}${body}process.exit(0)\n`
  const work = { processes: RESTARTED, compactions: 2, goal: 0.25 }
  const marked = { ...work, what: "three windows, breakpoints of its own", goal: 0.75 } // reads from the cache reduce both costs
  return [
    { ...work, what: "three windows, a restart", program: program(long(false, "THINKING")) },
    { ...work, what: "three windows, streamed", program: program(long(true, "THINKING")) },
    ...(breakpoints ? [{ ...marked, program: program(long(false, breakpoints)) }] : []),
    { what: "other cases", program: program(OTHERS + others), compactions: 0 },
  ]
}
