/** Resolves the paths of tool calls, so that one file has one name. Paths of Windows stay paths of Windows. */
import { posix, win32 } from "node:path"

const OF_WINDOWS = /^[A-Za-z]:[\\/]/
/** How shells on Windows write `D:\a`. */
const DRIVE = /^\/([A-Za-z])\/(.*)$/s

/** `directory`: where relative paths start. Without one they stay relative. */
export function resolvedPath(path: string, directory: string | undefined): string {
  if (OF_WINDOWS.test(directory ?? "")) {
    const [, drive, rest] = DRIVE.exec(path) ?? []
    const native = drive === undefined ? path : `${drive.toUpperCase()}:\\${rest}`
    return isOfPosix(native) ? native : win32.resolve(directory!, native)
  }
  if (OF_WINDOWS.test(path) || isFromHome(path)) return path
  if (posix.isAbsolute(path)) return posix.normalize(path)
  return directory === undefined ? posix.normalize(path) : posix.join(directory, path)
}

const isOfPosix = (path: string): boolean => path.startsWith("/") || isFromHome(path)
const isFromHome = (path: string): boolean => path === "~" || path.startsWith("~/")

export const isRelative = (path: string): boolean => !isOfPosix(path) && !OF_WINDOWS.test(path)

/** Whether a path is inside a directory. */
export const isInside = (path: string, directory: string): boolean =>
  path.startsWith(`${directory}/`) || path.startsWith(`${directory}\\`)
