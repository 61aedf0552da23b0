package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.base.UnicodeText;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Limits;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Computes a new ACL from the present one and a request, by the rules of HDFS and POSIX. An ACL is
 * here all of its entries, those that stand in permission bits too.
 *
 * <p>A mask is worked out anew, as the union of what it limits, when its scope is changed and the
 * caller says nothing of the mask itself.
 */
public final class AclRules {
  /** Entries of one scope at most. */
  static final int ENTRIES_MAX = 32;

  static final Comparator<AclEntry> ORDER =
      Comparator.comparing(AclEntry::getScope)
          .thenComparing(AclEntry::getType)
          .thenComparing(AclEntry::getName);

  private static final Set<AclType> REQUIRED =
      EnumSet.of(AclType.USER, AclType.GROUP, AclType.OTHER);

  private final NavigableMap<AclEntry, AclEntry> entries = new TreeMap<>(ORDER);
  private final Map<AclScope, AclEntry> masks = new EnumMap<>(AclScope.class);
  private final Set<AclScope> masksSaid = EnumSet.noneOf(AclScope.class);
  private final Set<AclScope> changed = EnumSet.noneOf(AclScope.class);

  private AclRules(Collection<AclEntry> before) {
    before.forEach(this::put);
  }

  /** {@code before} with entries added or replaced. */
  static List<AclEntry> modify(List<AclEntry> before, List<AclEntry> said) throws TakoException {
    AclRules acl = new AclRules(before);
    for (AclEntry entry : checked(said)) {
      acl.put(entry);
      acl.noteChange(entry);
    }
    return acl.result();
  }

  /** {@code before} without the entries that {@code said} names; what is not there may be named. */
  static List<AclEntry> remove(List<AclEntry> before, List<AclEntry> said) throws TakoException {
    AclRules acl = new AclRules(before);
    for (AclEntry entry : checked(said)) {
      boolean there =
          entry.getType() == AclType.MASK
              ? acl.masks.remove(entry.getScope()) != null
              : acl.entries.remove(entry) != null;
      if (there) {
        acl.noteChange(entry);
      }
    }
    return acl.result();
  }

  /** {@code said} instead of {@code before}, in each scope that it has entries of. */
  static List<AclEntry> replace(List<AclEntry> before, List<AclEntry> said) throws TakoException {
    List<AclEntry> replacing = checked(said);
    Set<AclScope> scopes = EnumSet.noneOf(AclScope.class);
    replacing.forEach(entry -> scopes.add(entry.getScope()));
    AclRules acl =
        new AclRules(before.stream().filter(old -> !scopes.contains(old.getScope())).toList());
    for (AclEntry entry : replacing) {
      acl.put(entry);
      acl.noteChange(entry);
    }
    return acl.result();
  }

  /** {@code before} without its default entries. */
  static List<AclEntry> removeDefault(List<AclEntry> before) {
    return before.stream().filter(entry -> entry.getScope() == AclScope.ACCESS).toList();
  }

  private void put(AclEntry entry) {
    if (entry.getType() == AclType.MASK) {
      masks.put(entry.getScope(), entry);
    } else {
      entries.put(entry, entry);
    }
  }

  private void noteChange(AclEntry entry) {
    changed.add(entry.getScope());
    if (entry.getType() == AclType.MASK) {
      masksSaid.add(entry.getScope());
    }
  }

  private List<AclEntry> result() throws TakoException {
    copyDefaults();
    for (AclScope scope : List.of(AclScope.ACCESS, AclScope.DEFAULT)) {
      if (scope == AclScope.ACCESS || !in(scope).isEmpty()) {
        for (AclType type : REQUIRED) {
          if (!entries.containsKey(unnamed(scope, type, 0))) {
            throw invalid(
                "the user, group and other entries are required"
                    + (scope == AclScope.DEFAULT ? " of a default ACL too" : ""));
          }
        }
        addMask(scope);
        checkSize(scope, in(scope).size());
      }
    }
    return List.copyOf(entries.values());
  }

  /** Default entries that are required are the access ones unless the caller gave them. */
  private void copyDefaults() {
    if (in(AclScope.DEFAULT).isEmpty()) {
      masks.remove(AclScope.DEFAULT);
      return;
    }
    for (AclType type : REQUIRED) {
      AclEntry access = entries.get(unnamed(AclScope.ACCESS, type, 0));
      if (access != null) {
        AclEntry copy = access.toBuilder().setScope(AclScope.DEFAULT).build();
        entries.putIfAbsent(copy, copy);
      }
    }
  }

  private void addMask(AclScope scope) throws TakoException {
    boolean needed = false;
    int union = 0;
    for (AclEntry entry : in(scope)) {
      boolean named = !entry.getName().isEmpty();
      needed |= named;
      if (named || entry.getType() == AclType.GROUP) {
        union |= entry.getPermission();
      }
    }
    AclEntry given = masks.get(scope);
    if (given == null && needed && masksSaid.contains(scope)) {
      throw invalid("mask is required and cannot be deleted");
    }
    if (given != null && (!changed.contains(scope) || masksSaid.contains(scope))) {
      entries.put(given, given);
    } else if (needed || given != null) {
      AclEntry mask = unnamed(scope, AclType.MASK, union);
      entries.put(mask, mask);
    }
  }

  private List<AclEntry> in(AclScope scope) {
    return entries.values().stream().filter(entry -> entry.getScope() == scope).toList();
  }

  static AclEntry unnamed(AclScope scope, AclType type, int permission) {
    return AclEntry.newBuilder().setScope(scope).setType(type).setPermission(permission).build();
  }

  // ---- what a caller says ----------------------------------------------------------------------

  private static List<AclEntry> checked(List<AclEntry> said) throws TakoException {
    NavigableMap<AclEntry, AclEntry> sorted = new TreeMap<>(ORDER);
    Map<AclScope, Integer> sizes = new EnumMap<>(AclScope.class);
    for (AclEntry entry : said) {
      check(entry);
      if (sorted.put(entry, entry) != null) {
        throw invalid("multiple entries with same scope, type and name");
      }
      checkSize(entry.getScope(), sizes.merge(entry.getScope(), 1, Integer::sum));
    }
    return List.copyOf(sorted.values());
  }

  private static void check(AclEntry entry) throws TakoException {
    boolean known =
        entry.getScope() != AclScope.UNRECOGNIZED && entry.getType() != AclType.UNRECOGNIZED;
    if (!known || (entry.getPermission() & ~7) != 0) {
      throw invalid("an entry has a scope, type or permission that there is not");
    }
    boolean nameable = entry.getType() == AclType.USER || entry.getType() == AclType.GROUP;
    if (!nameable && !entry.getName().isEmpty()) {
      throw invalid("this entry type must not have a name: " + describe(entry));
    }
    UnicodeText.check(entry.getName(), "Invalid ACL: the name");
    if (entry.getName().getBytes(UTF_8).length > Limits.NAME_MAX) {
      throw invalid("a name is longer than %d bytes".formatted(Limits.NAME_MAX));
    }
  }

  private static void checkSize(AclScope scope, int size) throws TakoException {
    if (size > ENTRIES_MAX) {
      throw invalid(
          "ACL has %d %s entries, which exceeds maximum of %d"
              .formatted(size, scope == AclScope.ACCESS ? "access" : "default", ENTRIES_MAX));
    }
  }

  private static String describe(AclEntry entry) {
    return entry.getType().name().toLowerCase(Locale.ROOT) + ":" + entry.getName();
  }

  static TakoException invalid(String why) {
    return new TakoException(Status.INVALID_ARGUMENT, "Invalid ACL: " + why);
  }
}
