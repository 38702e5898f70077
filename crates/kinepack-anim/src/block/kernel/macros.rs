//! Code that differs between kernels only in the names of instructions.

/// Methods of a kernel that are compiled for its instructions.
macro_rules! compiled {
    // Runs a task.
    (run of $kernel:ident for $features:literal) => {
        #[inline(always)]
        pub(crate) fn run<T: Task>(self, task: T) {
            #[target_feature(enable = $features)]
            fn run<T: Task>(kernel: $kernel, task: T) {
                task.run(kernel);
            }
            // SAFETY: `self` proves that the machine has the features.
            unsafe { run(self, task) }
        }
    };
    (decode of $kernel:ident for $features:literal) => {
        #[inline(always)]
        fn decode<const SETS: usize>(
            self,
            sums: [&mut Sums<Self::Lanes>; SETS],
            wanted: Wanted,
            segment: &mut Segment<'_>,
            weights: [&Weights; SETS],
        ) {
            #[target_feature(enable = $features)]
            fn decode<const SETS: usize>(
                kernel: $kernel,
                sums: [&mut Sums<<$kernel as Kernel>::Lanes>; SETS],
                wanted: Wanted,
                segment: &mut Segment<'_>,
                weights: [&Weights; SETS],
            ) {
                sums::decode(kernel, sums, wanted, segment, weights);
            }
            // SAFETY: `self` proves that the machine has the features.
            unsafe { decode(self, sums, wanted, segment, weights) }
        }
    };
}

/// Methods of lanes in two registers. Each applies one instruction to both registers.
macro_rules! both_registers {
    ($($method:ident($($other:ident)?) is $instruction:ident;)*) => {
        $(
            #[inline(always)]
            fn $method(self $(, $other: Self)?) -> Self {
                // SAFETY: the lanes carry the proof that the machine has the instructions.
                unsafe { Self($instruction(self.0 $(, $other.0)?), $instruction(self.1 $(, $other.1)?), self.2) }
            }
        )*
    };
}
