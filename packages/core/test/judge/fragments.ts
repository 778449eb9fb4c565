/**
 * Lists of text fragments from which lines are generated. They are in pieces.txt, where nothing needs to be quoted: `
 * ` is the end of a line.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const lists = new Map(
  readFileSync(join(import.meta.dirname, "pieces.txt"), "utf8")
    .split(/^== /m)
    .slice(1)
    .map((part) => {
      const [name = "", ...lines] = part.replace(/\n$/, "").split("\n")
      return [name, lines.map((line) => line.replaceAll("⏎", "\n"))] as const
    }),
)

export function pieces(name: string): readonly string[] {
  const list = lists.get(name)
  if (!list) throw new Error(`pieces.txt has no list "${name}".`)
  return list
}
