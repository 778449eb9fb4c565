/** The sandbox on Linux: bubblewrap, with separate namespaces for files, processes, the network and users. */
import { type Enclosure, mountsOf } from "./enclosure.ts"

/**
 * Directories with sockets of other programs, which would allow an escape, are hidden. Links to programs in them remain visible on systems
 * that use them.
 */
export const RUNTIME_DIRECTORIES = {
  hidden: ["/tmp", "/run", "/dev/shm"],
  shown: ["/run/current-system", "/run/wrappers"],
} as const

export const bubblewrapArguments = (enclosure: Enclosure): readonly string[] => [
  ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...(enclosure.hasNetwork ? [] : ["--unshare-net"]),
  ...["--die-with-parent", "--cap-drop", "ALL"], // otherwise root would retain capabilities
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...mountsOf(enclosure).flatMap((mount) => {
    if (mount.how === "show") return ["--ro-bind-try", mount.path, mount.path]
    if (mount.how === "write") return ["--bind-try", mount.path, mount.path]
    return mount.isDirectory ? ["--tmpfs", mount.path] : ["--dev-bind", "/dev/null", mount.path] // replaced by an empty file
  }),
  ...["--chdir", enclosure.directory, "--"],
]
