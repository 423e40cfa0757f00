# Carries out a list of system calls, one after the other, and becomes the program that the last one executes: the
# process between the supervisor and a container. Node.js cannot do it: it has threads, and neither namespaces nor
# rights of a process with threads can be changed. Perl is on every Debian, has no threads, and starts in a millisecond.
#
# The list comes on descriptor 3 as call-list.ts writes it. Descriptor 4 is told "begin" when the program is about to
# begin, and "fail CALL ERRNO" when a call failed. Nothing is said after that: the descriptor closes with the program.
open my $source, '<&=', 3 or exit 1;
open my $report, '>&=', 4 or exit 1;
binmode $source;
my $bytes = do { local $/; readline $source };
close $source;
exit 1 unless defined $bytes && length $bytes >= 4 && unpack('N', $bytes) == length($bytes) - 4;

# Perl ignores it for itself, and what is ignored stays so in the program.
$SIG{FPE} = 'DEFAULT';

my (@answers, @kept, $failure);
my $begun = 0;
my $index = -1;
for my $call (unpack '(N/a*)*', substr $bytes, 4) {
  $index++;
  my ($number, $tolerated, @fields) = unpack '(N/a*)*', $call;
  my $executes = 0;
  my @values = map {
    my ($kind, $value) = (substr($_, 0, 1), substr($_, 1));
    if ($kind eq 'i') { $value = 0 + $value }
    elsif ($kind eq 'r') { $value = $answers[$value] }
    elsif ($kind eq 'f') {
      # struct sock_fprog: how many instructions, of eight bytes each, and where they are.
      push @kept, $value;
      $value = pack 'S x6 P', length($value) / 8, $kept[-1];
    }
    elsif ($kind eq 'v') {
      $executes = 1;
      my @strings = unpack '(N/a*)*', $value;
      push @kept, \@strings;
      $value = pack 'p*', @strings, undef;
    }
    $value
  } @fields;
  syswrite $report, "begin\n" if $executes && !$begun++;
  my $answer = syscall(0 + $number, @values);
  push @answers, 0 + $answer;
  next if $answer != -1;
  my $errno = 0 + $!;
  # Of several paths that were tried, one that may not be executed says more than one that is not there.
  $failure = "fail $index $errno\n" if !defined $failure || $errno != 2;
  last if index($tolerated, ",$errno,") < 0;
  undef $failure unless $executes;
}
syswrite $report, $failure // "fail $index 0\n";
exit 127;
