/** Step 4, check. Claims of success: tests and commands whose last run failed, and todos that are open. */
import type { Todo } from "../../../messages/attachments.ts"
import type { CommandFacts } from "../../../views/record/artifacts.ts"
import type { Claim, Part } from "./claim.ts"
import { phraseOf, tokensOf } from "./text.ts"

export interface Work {
  /** By command line, the most recently run last. */
  readonly commands: ReadonlyMap<string, CommandFacts>
  readonly todos: readonly Todo[]
}

const TESTS_PASS =
  /\b(?:all|every|the|full|whole|entire|unit|integration|e2e|\d+)?\s*(?:\w+\s)?(?:tests?|test suites?|suite|specs?|checks)\b[^.;:]{0,30}?\b(?:pass(?:es|ing)?|are green|is green|green|succeed(?:s)?|are ok)\b|\b(?:all|every|alle)\b[^.;:]{0,20}\b(?:tests?|suites?|specs?)\b[^.;:]{0,20}\b(?:passed|succeeded|bestanden|grün)\b|(?:所有|全部)测试.{0,6}通过|テスト.{0,8}(?:成功|通過|パス)/iu
const PASSED =
  /\b(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|success(?:ful(?:ly)?)?|green|works|worked|clean|ok|exit code 0|bestanden|erfolgreich)\b|✅|✓|通过|成功/iu
const NOT_PASSED =
  /\b(?:fail\w*|error\w*|broke\w*|should|must|need\w*|until|ensure\w*|make sure|verify|verif\w+|check (?:that|whether|if)|confirm that|so that|to make|will|would|if|once|before|after|not|n't|never|earlier|previously|first|then|initially|until|but|except|remaining|pending|todo|next|expected|want\w*|why|whether|when)\b|失败|应该|需要|确保/iu
const DONE = /\[(?:x|completed|done)\]|✅|✓|☑|\b(?:completed|done|finished|erledigt|fertig)\b|已完成|完了/iu
const OPEN =
  /\[(?: |pending|in_progress|in progress)\]|☐|\b(?:pending|in progress|in_progress|open|not (?:yet )?(?:done|started|finished|completed)|todo|remaining|next|offen|still)\b|未完成|待办/iu
const SHORTEST_COMMAND = 6 // characters
const FEWEST_TODO_WORDS = 2

export function outcomeClaims(parts: readonly Part[], { commands, todos }: Work): readonly Claim[] {
  const all = [...commands]
  const lastTest = all.findLast(([, { isTest }]) => isTest)
  const failed = all
    .filter(([command, facts]) => facts.failed && command.length >= SHORTEST_COMMAND)
    .map(([command]) => ({ command, line: command.split("\n")[0]!.trim() }))
  const succeeded = new Set(all.filter(([, facts]) => !facts.failed).map(([command]) => command.split("\n")[0]!.trim()))
  const open = todos
    .filter(({ status }) => status !== "completed")
    .filter(({ content }) => tokensOf(content).length >= FEWEST_TODO_WORDS)
    .map(({ content }) => ({ content, phrase: phraseOf(content) }))
  const claimedOn = (line: string) => {
    const words = phraseOf(line)
    const todo = open.find((each) => words.includes(each.phrase))
    if (!todo) return undefined
    const rest = line.replace(todo.content, "")
    return { todo: todo.content, isDone: DONE.test(rest) && !OPEN.test(rest) }
  }
  // a line is read once, however many sentences it has
  let known: { readonly line: Part["line"]; readonly claimed: ReturnType<typeof claimedOn> } | undefined
  return parts.flatMap((part): Claim[] => {
    if (part.isCode) return []
    const claim = (isSupported: boolean, instead?: string): Claim[] => [
      {
        class: "outcomes",
        text: part.text,
        at: part.at,
        isSupported,
        sentence: part,
        ...(instead === undefined ? {} : { instead }),
      },
    ]
    const claimsSuccess = PASSED.test(part.text) && !NOT_PASSED.test(part.text)
    const named = failed.find(({ line }) => part.text.includes(line) && !longerSucceeded(part.text, line, succeeded))
    if (named && claimsSuccess) return claim(false, `the last run of ${named.line} failed`)
    if (TESTS_PASS.test(part.text) && claimsSuccess && lastTest)
      return claim(
        !lastTest[1].failed,
        lastTest[1].failed ? `the last run of ${lastTest[0].split("\n")[0]} failed` : undefined,
      )
    if (open.length === 0) return []
    if (known?.line !== part.line) known = { line: part.line, claimed: claimedOn(part.line.text) }
    const { claimed } = known
    if (!claimed) return []
    return claimed.isDone ? claim(false, `the todo "${claimed.todo}" is open`) : claim(true)
  })
}

/** `npm test -- a` may have passed where `npm test` failed. */
const longerSucceeded = (text: string, line: string, succeeded: ReadonlySet<string>): boolean =>
  [...succeeded].some((each) => each.length > line.length && each.includes(line) && text.includes(each))
