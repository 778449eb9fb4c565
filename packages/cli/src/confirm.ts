/** Asks for one of a few words at the terminal. Only whole words count, and nothing is chosen by default. */
import { createInterface } from "node:readline/promises"

/** The word chosen; `undefined` if the terminal is closed. A word typed ahead by chance is not taken for an answer. */
export async function promptForChoice<W extends string>(question: string, words: readonly W[]): Promise<W | undefined> {
  const { stdin, stdout } = process
  const lines = createInterface({ input: stdin, output: stdout, terminal: false })
  try {
    stdout.write(question)
    for await (const line of lines) {
      const word = words.find((candidate) => candidate === line.trim().toLowerCase())
      if (word !== undefined) return word
      stdout.write(`Please type ${words.join(" or ")}: `)
    }
    return undefined
  } finally {
    lines.close()
  }
}
