/** What commands of the lab refuse, in a sentence and before the work. */
import { statSync } from "node:fs"
import { type ParseArgsConfig, parseArgs } from "node:util"

/** Its message says what to do. */
export class LabUsageError extends Error {}

/** Prints the sentence of a `LabUsageError` and ends with exit code 2. */
export async function withSentences(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof LabUsageError)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

export function readCall<const O extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  { options, usage }: { readonly options: O; readonly usage: string },
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    const reason = (error as Error).message.split(". ")[0]
    throw new LabUsageError(`${reason}. The call is: ${usage}`, { cause: error })
  }
}

/** A folder that a person named. */
export function folderAt(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return folder
  throw new LabUsageError(
    found
      ? `${folder} is a file. Name the folder that has it, or use: npm run strata -- compare FILE`
      : `There is no folder ${folder}. Name a folder with recordings, or none for those next to the repository.`,
  )
}
