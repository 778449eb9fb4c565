/** Finds a memory by its file, its name, or a prefix of either. */
import type { Memory } from "@strata/core"
import { fileStem } from "@strata/page"
import { UsageError } from "../command.ts"
import { nearestTo } from "../suggestion.ts"

export function findMemory(memories: readonly Memory[], typed: string): Memory {
  const wanted = typed.toLowerCase()
  const namesOf = ({ file, name }: Memory) => [file, fileStem(file), name].map((one) => one.toLowerCase())
  const exact = memories.filter((memory) => namesOf(memory).includes(wanted))
  const fitting =
    exact.length > 0 ? exact : memories.filter((memory) => namesOf(memory).some((one) => one.startsWith(wanted)))
  if (fitting.length === 1) return fitting[0]!
  if (fitting.length > 1) {
    const names = fitting.map(({ file }) => file).join(", ")
    throw new UsageError(`${fitting.length} memories fit "${typed}": ${names}. Type the file name.`)
  }
  const near = nearestTo(
    wanted,
    memories.map(({ file }) => fileStem(file)),
  )
  const hint = near === undefined ? '"strata memory" lists them.' : `Did you mean ${near}?`
  throw new UsageError(`There is no memory "${typed}" in this project. ${hint}`)
}
