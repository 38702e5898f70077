using System;

namespace Kinepack
{
    /// <summary>
    /// Writes groups, which are runs of snapshots for files and reliable connections. Each snapshot
    /// is coded against the previous ones.
    /// </summary>
    public sealed class GroupWriter : NativeObject
    {
        /// <summary>Creates a writer at the beginning of a group.</summary>
        /// <param name="codec">The codec, which the reader needs too.</param>
        public GroupWriter(Codec codec)
        {
            Require.NotNull(codec, nameof(codec));
            codec.Check(Native.kp_group_writer_new(codec.Id, out ulong made));
            Own(made);
        }

        /// <summary>Begins the next group.</summary>
        /// <param name="given">
        /// A view that the reader will be given too. With null, the group does not depend on
        /// anything before it.
        /// </param>
        public void Begin(View given = null)
        {
            Check(Native.kp_group_writer_begin(Id, given == null ? 0 : given.Id));
            GC.KeepAlive(given);
        }

        /// <summary>Adds a frame.</summary>
        /// <param name="world">
        /// The snapshot to add. Its tick must be above the tick of the previous frame.
        /// </param>
        public void Write(Snapshot world)
        {
            Require.NotNull(world, nameof(world));
            Check(Native.kp_group_write(Id, world.Id));
            GC.KeepAlive(world);
        }

        /// <summary>Takes the frames added since the last call.</summary>
        /// <param name="bytes">The array to write to.</param>
        /// <param name="size">The size of the frames in bytes, or 0 if there are no frames.</param>
        /// <returns>False if there are no frames.</returns>
        /// <exception cref="KinepackException">
        /// The array is too short. The frames are kept.
        /// </exception>
        public unsafe bool TryTake(byte[] bytes, out int size)
        {
            Require.NotNull(bytes, nameof(bytes));
            fixed (byte* first = bytes)
            {
                Status status = Native.kp_group_take(
                    Id, first, (UIntPtr)bytes.Length, out UIntPtr written);
                return Succeeds(status, Status.Nothing, written, out size);
            }
        }

        internal override Status Free(ulong freed) => Native.kp_group_writer_free(freed);
    }

    /// <summary>
    /// Reads groups. The connection or the file must guarantee that the bytes are unaltered.
    /// </summary>
    public sealed class GroupReader : NativeObject
    {
        /// <summary>Creates a reader at the beginning of a group.</summary>
        /// <param name="codec">The codec, which the writer needs too.</param>
        public GroupReader(Codec codec)
        {
            Require.NotNull(codec, nameof(codec));
            codec.Check(Native.kp_group_reader_new(codec.Id, out ulong made));
            Own(made);
        }

        /// <summary>Begins the next group.</summary>
        /// <param name="given">The view that the group's writer was given, or null.</param>
        public void Begin(View given = null)
        {
            Check(Native.kp_group_reader_begin(Id, given == null ? 0 : given.Id));
            GC.KeepAlive(given);
        }

        /// <summary>Reads the frame at the beginning of a part of an array.</summary>
        /// <param name="bytes">Bytes that begin with at least one whole frame.</param>
        /// <param name="snapshot">A snapshot of the same schema, to fill.</param>
        /// <param name="used">The size of the frame in bytes.</param>
        /// <returns>
        /// False if the frame is invalid or incomplete. Then nothing has changed.
        /// </returns>
        public unsafe bool TryRead(ArraySegment<byte> bytes, Snapshot snapshot, out int used)
        {
            Require.Holds(bytes, nameof(bytes));
            Require.NotNull(snapshot, nameof(snapshot));
            used = 0;
            if (bytes.Count == 0)
            {
                return false;
            }
            fixed (byte* first = bytes.Array)
            {
                byte* begin = first + bytes.Offset;
                Status status = Native.kp_group_read(
                    Id, begin, (UIntPtr)bytes.Count, snapshot.Id, out UIntPtr read);
                GC.KeepAlive(snapshot);
                return Succeeds(status, Status.Data, read, out used);
            }
        }

        internal override Status Free(ulong freed) => Native.kp_group_reader_free(freed);
    }
}
