/** Asks for one of a few words at the terminal. Only complete words are accepted, and there is no default. */
import { createInterface } from "node:readline/promises"

/** Resolves with the chosen word, or `undefined` if the terminal is closed. Other input is asked about again. */
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
