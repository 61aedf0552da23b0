# The system that bin/vm boots: Debian's kernel and a small initramfs, made once and kept in a cache directory.
# Source it after bin/lib.sh.
# shellcheck shell=bash

vm_packages=(qemu-system-x86 busybox-static cpio kmod rdma-core ibverbs-utils iproute2)
vm_mount_options=version=9p2000.L,trans=virtio,msize=1048576

# One processor, run by one thread: with several threads of QEMU's, JVMs now and then crashed in code
# that they had just compiled. src/test/vm/stability tells how these do.
vm_thread=single
vm_cpu=max

# For short-lived JVMs: of what they do there, starting and optimizing is most.
vm_jvm_options="-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"

# rxe asks the kernel's crypto interface for "crc32", which crc32_generic gives; netem loses packets.
vm_modules=(crc32_generic crc32-pclmul virtio_pci e1000 9pnet_virtio 9p overlay
  ib_uverbs rdma_ucm rdma_rxe sch_netem)

# Sets vm_kernel and vm_initramfs; the arguments are further modules. False when there is no kernel.
vm_prepare() {
  local cache=${TAKO_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tako-vm} package
  mkdir -p "$cache"
  package=$(vm_kernel_package)
  [ -n "$package" ] && [ -e "$cache/$package/boot" ] || vm_fetch_kernel "$cache" "$package" || return 1
  vm_kernel=$(echo "$cache/$package"/boot/vmlinuz-*)
  vm_initramfs=$cache/initramfs-$(vm_hash "$package" "$@")
  [ -e "$vm_initramfs" ] || vm_make_initramfs "$cache/$package" "$vm_initramfs" "$@"
}

# Names one initramfs for one kernel, one list of modules and one version of this file.
vm_hash() {
  { echo "$@" && cat "$root/src/test/vm/lib.sh" "$root/src/test/vm/init"; } | sha256sum | cut -c1-16
}

# The package that Debian's newest stock kernel is in.
vm_kernel_package() {
  apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1
}

vm_fetch_kernel() { # cache directory, package
  local new
  new=$(mktemp -d "$1/new.XXXXXX")
  (cd "$new" && apt-get -o APT::Sandbox::User=root download -qq "$2" >/dev/null &&
    dpkg -x "$2"_*.deb . && rm "$2"_*.deb && depmod -b . "$(ls lib/modules)") || {
    rm -r "$new"
    echo "could not fetch the kernel package ${2:-linux-image-amd64}" >&2
    return 1
  }
  mv "$new" "$1/$2"
}

# Busybox, the script that it starts first, and the modules in the order in which they load.
vm_make_initramfs() { # kernel directory, file to make, further modules
  local kernel=$1 file=$2 new version module
  shift 2
  version=$(ls "$kernel/lib/modules")
  new=$(mktemp -d "$file.XXXXXX")
  mkdir "$new/bin" "$new/modules"
  cp "$(command -v busybox)" "$new/bin/busybox"
  cp "$root/src/test/vm/init" "$new/init"
  for module in "${vm_modules[@]}" "$@"; do
    modprobe -d "$kernel" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | awk '!seen[$0]++' | while read -r module; do
    cp "$module" "$new/modules/"
    basename "$module" >>"$new/modules.list"
  done
  (cd "$new" && find . | cpio --quiet -o -H newc | gzip -1) >"$new.gz"
  rm -r "$new"
  mv "$new.gz" "$file"
}
