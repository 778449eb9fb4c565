/** The change that the writer of a turmoil makes: most memories get a new text, some are removed. */
import { memoryText } from "../dreams.ts"

export const DREAMT = "dreamt of this"

export const isRemoved = (file: string): boolean => /[37]\.md$/.test(file)

export function dreamTexts(files: readonly string[]) {
  const kept = files.filter((file) => !isRemoved(file))
  return {
    removals: files.filter(isRemoved),
    puts: kept.map((file) => ({ file, text: memoryText(file.replace(".md", ""), `${DREAMT} ${file}`) })),
  }
}
