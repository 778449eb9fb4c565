/** Reads memory files from a fork's answer. Either every file in it can be read, or none is used. */
import { isTopicFile } from "../../memory/file-names.ts"

export type Answer =
  | { readonly state: "files"; readonly texts: ReadonlyMap<string, string> }
  | { readonly state: "unusable"; readonly why: string }

const OPENING = /^<memory file="([^"\n]+)">[ \t]*$/
const CLOSING = /^<\/memory>[ \t]*$/
const NOTHING = /\bnothing (?:new )?to remember\b/i
const MOST_FILES = 20
const MOST_CHARACTERS = 20_000 // of one file

export function readAnswer(answer: string): Answer {
  const texts = new Map<string, string>()
  let file: string | undefined
  let lines: string[] = []
  for (const line of answer.split(/\r?\n/)) {
    const opened = OPENING.exec(line)?.[1]
    if (opened !== undefined) {
      if (file !== undefined) return unusable(`the memory ${file} has no end`)
      if (texts.has(opened)) return unusable(`the answer has ${opened} twice`)
      if (!isTopicFile(opened)) return unusable(`${opened} is not the name of a memory file`)
      file = opened
      lines = []
    } else if (file !== undefined && CLOSING.test(line)) {
      const text = lines.join("\n").trim()
      if (text === "") return unusable(`the memory ${file} is empty`)
      if (text.length > MOST_CHARACTERS) return unusable(`the memory ${file} is too long`)
      texts.set(file, `${text}\n`)
      file = undefined
    } else lines.push(line)
  }
  if (file !== undefined) return unusable(`the memory ${file} has no end`)
  if (texts.size > MOST_FILES) return unusable(`the answer has ${texts.size} memories at once`)
  if (texts.size === 0 && !NOTHING.test(answer))
    return unusable('the answer has no memory, and does not say "Nothing to remember"')
  return { state: "files", texts }
}

const unusable = (why: string): Answer => ({ state: "unusable", why })
